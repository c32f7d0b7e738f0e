"""Files of a provider, written to disk as they arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

import httpx

from connectors.deadline import Deadline
from connectors.errors import Malformed, Refused, Revoked, TooMuchData, Transient
from connectors.trust import past_proxies, trust

BLOCK = 1 << 16


@dataclass(frozen=True)
class Limits:
    """Bounds of one download: bytes, seconds of silence, seconds in all."""

    most_bytes: int
    silence: float = 10.0
    within: float = 60.0


def fetch(provider: str, url: str, token: str, into: IO[bytes], limits: Limits) -> int:
    """Write what the address holds into a file; the number of bytes. Asked once, without following redirects.

    Raises TooMuchData above the limit, Revoked, Refused(not_found), Transient and Malformed.
    """
    deadline, size = Deadline(), 0
    deadline.within(limits.within)
    try:
        with (
            deadline.bind(httpx.Client(verify=trust(), timeout=limits.silence, mounts=past_proxies())) as client,
            client.stream("GET", url, headers={"Authorization": f"Bearer {token}"}) as response,
        ):
            _judge(provider, response.status_code)
            for piece in response.iter_bytes(BLOCK):
                size += len(piece)
                if size > limits.most_bytes:
                    raise TooMuchData(provider, "the file is larger than it may be")
                into.write(piece)
    except httpx.TimeoutException:
        raise Transient(provider, "no answer in time", reason="timeout") from None
    except (httpx.TransportError, httpx.DecodingError) as error:
        # the chained exception would carry the request, and with it the credential
        raise Transient(provider, f"connection failed ({type(error).__name__})", reason="connection") from None
    except httpx.InvalidURL:
        raise Malformed(provider, "the address of the file cannot be read") from None
    return size


def _judge(provider: str, status: int) -> None:
    if status == 401:
        raise Revoked(provider, "the credential was not accepted", status=status)
    if status in (404, 410):
        raise Refused(provider, "the file is gone", reason="not_found", status=status)
    if status >= 500 or status == 429:
        raise Transient(provider, f"HTTP {status}", status=status)
    if status != 200:
        raise Refused(provider, f"HTTP {status}", status=status)
