"""Calls to addresses that users give: https on port 443, public addresses alone, and never somewhere else than checked.

The address is resolved once, checked, and connected to as it was checked, so that a name cannot mean another machine a
moment later. Redirects are not followed, proxies of the environment not used, and answers not read.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

import requests
from requests_hardened import Config, Manager  # type: ignore[import-untyped]
from requests_hardened.ip_filter import InvalidIPAddress, filter_host  # type: ignore[import-untyped]
from requests_hardened.ip_filter_adapter import IPFilterAdapter  # type: ignore[import-untyped]
from urllib3.connection import HTTPSConnection
from urllib3.connectionpool import HTTPSConnectionPool
from urllib3.util import Timeout

LONGEST_URL = 2048
WHOLE_SECONDS = 15.0
CONNECT_SECONDS = 5.0
SLACK_SECONDS = 0.2
# inner networks, and IPv4 within IPv6, in spellings that were given up and that requests_hardened lets through
_GIVEN_UP = tuple(ipaddress.ip_network(one) for one in ("::/96", "::ffff:0:0:0/96", "fec0::/10"))
# answers every machine of Azure, and none outside: its platform, with what machines are told in confidence
_PLATFORM = ipaddress.ip_address("168.63.129.16")
# the middle of an IPv6 address that holds an IPv4 one by ISATAP (RFC 5214, 6.1), without its bit for "unique"
_ISATAP, _UNIQUE = 0x00005EFE, 0x02000000
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,253}")


class NotPublicError(ValueError):
    """An address that is not called; the text says why."""


class FetchError(ValueError):
    """A file that could not be fetched whole; the text says why."""


class TooLargeError(FetchError):
    """A file of more bytes than it may have."""


@dataclass(frozen=True)
class Outcome:
    """What became of one call: the status of the answer, or a word on why there is none."""

    status: int | None = None
    error: str | None = None


@dataclass(frozen=True)
class Egress:
    """The way out. `stand_ins` are origins for which another answers; only a test can put one there, by making one."""

    stand_ins: Mapping[str, str] = field(default_factory=dict)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Outcome:
        """Send one body, within 15 seconds altogether."""
        origin, _, path = url.removeprefix("https://").partition("/")
        try:
            if f"https://{origin}" in self.stand_ins:
                return _sent(
                    _session(requests.Session()), f"{self.stand_ins[f'https://{origin}']}/{path}", body, headers
                )
            check_form(url)
            session = _session(Manager(CONFIG).get_session())
            session.mount("https://", _Adapter(is_https_proto=True))
            return _sent(session, url, body, headers)
        except (ValueError, InvalidIPAddress) as refused:
            known = isinstance(refused, NotPublicError | InvalidIPAddress)
            return Outcome(error="address_not_public" if known else "address")
        except requests.exceptions.SSLError:
            return Outcome(error="tls")
        except requests.exceptions.Timeout:
            return Outcome(error="timeout")
        except (requests.RequestException, OSError):
            return Outcome(error="connection")

    def fetch(self, url: str, into: IO[bytes], *, most_bytes: int) -> str:
        """Write what an address holds into a file; its MIME type. Within 15 seconds altogether.

        Raises NotPublicError for an address that is not called, FetchError for one that gives no such file.
        """
        origin, _, path = url.removeprefix("https://").partition("/")
        stand_in = self.stand_ins.get(f"https://{origin}")
        try:
            if stand_in is None:
                check(url)
            session = _session(requests.Session() if stand_in else Manager(CONFIG).get_session())
            if stand_in is None:
                session.mount("https://", _Adapter(is_https_proto=True))
            return _fetched(session, f"{stand_in}/{path}" if stand_in else url, into, most_bytes)
        except InvalidIPAddress:
            raise NotPublicError("does not lead to a public address") from None
        except (requests.RequestException, OSError) as failure:
            raise FetchError(f"could not be fetched ({type(failure).__name__})") from None


CONFIG = Config(
    ip_filter_enable=True,
    ip_filter_allow_loopback_ips=False,
    never_redirect=True,
    default_timeout=(CONNECT_SECONDS, WHOLE_SECONDS),
    user_agent_override="Touchledger-Webhooks/1",
)


def check(url: str) -> None:
    """Raise NotPublicError unless this is an https address, on port 443, of a name that leads to a public machine."""
    host = check_form(url)
    try:
        _require_current(filter_host(host, 443, allow_loopback=False))
    except InvalidIPAddress:
        raise NotPublicError("does not lead to a public address") from None
    except (requests.RequestException, OSError, UnicodeError):
        raise NotPublicError("has a host name that cannot be resolved") from None


def check_form(url: str) -> str:
    """The host of an address that may be called as far as its text tells; NotPublicError otherwise."""
    if len(url) > LONGEST_URL or not url.isascii() or any(sign.isspace() or sign < "!" for sign in url):
        raise NotPublicError("must be at most 2048 characters of plain text")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise NotPublicError("is not an address") from None
    if parts.scheme != "https" or port not in {None, 443}:
        raise NotPublicError("must be https on port 443")
    if parts.username or parts.password or parts.fragment or "@" in parts.netloc or "\\" in url:
        raise NotPublicError("must hold neither a user nor a fragment")
    if not parts.hostname or not _HOST.fullmatch(parts.hostname):
        raise NotPublicError("has no host name")
    return parts.hostname


def one_spelling(url: str) -> str:
    """An address that `check_form` passes, spelt as every other spelling of it: small host, no port, a path."""
    parts = urlsplit(url)
    host = parts.netloc.removesuffix(":").removesuffix(":443").lower()
    return urlunsplit(("https", host, parts.path or "/", parts.query, ""))


def _require_current(address: str) -> None:
    found = ipaddress.ip_address(address.strip("[]"))
    is_tunnel = found.version == 6 and (int(found) >> 32) & 0xFFFFFFFF & ~_UNIQUE == _ISATAP
    if is_tunnel or found == _PLATFORM or any(found in network for network in _GIVEN_UP):
        raise InvalidIPAddress(address)


def _session(session: requests.Session) -> requests.Session:
    session.trust_env = False
    return session


def _sent(session: requests.Session, url: str, body: bytes, headers: Mapping[str, str]) -> Outcome:
    told = {**headers, "Content-Type": "application/json", "Accept-Encoding": "identity"}
    timeout: Any = Timeout(connect=CONNECT_SECONDS, total=WHOLE_SECONDS)
    # only the status counts: what a receiver writes is neither waited for nor read
    with (
        session,
        session.post(url, data=body, headers=told, timeout=timeout, allow_redirects=False, stream=True) as answer,
    ):
        return Outcome(answer.status_code)


def _fetched(session: requests.Session, url: str, into: IO[bytes], most_bytes: int) -> str:
    timeout: Any = Timeout(connect=CONNECT_SECONDS, total=WHOLE_SECONDS)
    size = 0
    with session, session.get(url, timeout=timeout, allow_redirects=False, stream=True) as answer:
        if answer.status_code != 200:
            raise FetchError(f"answered {answer.status_code}")
        for piece in answer.iter_content(1 << 16):
            size += len(piece)
            if size > most_bytes:
                raise TooLargeError(f"holds more than {most_bytes} bytes")
            into.write(piece)
        return answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()


class _Connection(HTTPSConnection):
    """One that is cut after `WHOLE_SECONDS`, however slowly the other side goes on sending."""

    def connect(self) -> None:
        begun = time.monotonic()
        super().connect()
        # a little later than silence is noticed, which is told as what it is
        left = WHOLE_SECONDS + SLACK_SECONDS - (time.monotonic() - begun)
        cut = threading.Timer(max(0.0, left), _cut, [self.sock])
        cut.daemon = True
        cut.start()


def _cut(sock: Any) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


class _Pool(HTTPSConnectionPool):
    ConnectionCls = _Connection


class _Adapter(IPFilterAdapter):  # type: ignore[misc]
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"https": _Pool}

    def build_connection_pool_key_attributes(self, *args: Any, **kwargs: Any) -> Any:
        host, pool = super().build_connection_pool_key_attributes(*args, **kwargs)
        _require_current(host["host"])
        return host, pool
