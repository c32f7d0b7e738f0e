"""A request as it comes in: from whom, and its body whole or a refusal, never the part that fitted or arrived."""

from __future__ import annotations

import ipaddress
from functools import cached_property
from typing import IO, Any, cast

from flask import Request
from werkzeug.datastructures import MIMEAccept
from werkzeug.exceptions import ClientDisconnected
from werkzeug.wsgi import LimitedStream

from api import errors

# a browser's wishes are a tenth of this
LONGEST_WISH = 1_000


def too_large(most: int) -> errors.ApiError:
    """413 payload_too_large, with the bytes that a body may hold."""
    return errors.PAYLOAD_TOO_LARGE(f"The body may hold at most {most} bytes.")


class Incoming(Request):
    """Flask's request, of which a body is read whole or not at all, and an address has one spelling."""

    def __init__(self, environ: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(environ, *args, **kwargs)
        self.remote_addr = _as_ipv4(self.remote_addr)

    @cached_property
    def accept_mimetypes(self) -> MIMEAccept:
        """What the caller would rather have; nothing in particular for more than anybody wishes."""
        # among 8,000 spaces Werkzeug looks for a fifth of a second
        return MIMEAccept() if len(self.headers.get("Accept", "")) > LONGEST_WISH else super().accept_mimetypes

    @cached_property
    def stream(self) -> IO[bytes]:
        """The body of a server that marks its end, as gunicorn does; else as Werkzeug reads it."""
        most = self.max_content_length
        if most is None or "wsgi.input_terminated" not in self.environ:
            return super().stream
        if (self.content_length or 0) > most:
            raise too_large(most)
        return cast(IO[bytes], Body(self.environ["wsgi.input"], most, self.content_length))


def _as_ipv4(address: str | None) -> str | None:
    """The address that IPv6 carries as `::ffff:a.b.c.d`; all others as they are."""
    # a socket of IPv6 tells every caller of IPv4 so: they were one network, and in no network of a key
    if address is None or not address.lower().startswith("::ffff:"):
        return address
    try:
        mapped = ipaddress.IPv6Address(address).ipv4_mapped
    except ValueError:
        mapped = None
    return address if mapped is None else str(mapped)


class Body(LimitedStream):
    """At most `limit` bytes of a stream, `told` of them where the request gives a length.

    413 payload_too_large for more, ClientDisconnected (400) for fewer than told and for what the server cannot read.
    """

    def __init__(self, stream: IO[bytes], limit: int, told: int | None) -> None:
        super().__init__(cast(IO[bytes], _Sent(stream)), limit, is_max=True)
        self._told = told

    def on_exhausted(self) -> None:
        if self._stream.read(1):
            raise too_large(self.limit)

    def on_disconnect(self, error: Exception | None = None) -> None:
        if self._told is not None and self._pos < self._told:
            raise ClientDisconnected from error

    def readall(self) -> bytes:
        found = super().readall()
        if self.is_exhausted:
            # Werkzeug stops at the limit without a word: what was cut off there had been read as the whole
            self.on_exhausted()
        return found


class _Sent:
    """What the server reads from the connection; what it cannot read is its sender's fault."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except Exception as error:
            # servers tell of broken chunks by exceptions of their own: gunicorn's had been answered with 500
            raise ClientDisconnected from error
