"""A time by which a whole exchange over HTTP has ended, however steadily the other side drips."""

from __future__ import annotations

import math
import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore
import httpx

# a slow reader takes what it takes of one piece; between two the clock is asked
PIECE = 1 << 14


class Deadline:
    """What bounds the exchange under way; it holds for every client that was bound to it."""

    def __init__(self) -> None:
        self._at = math.inf

    def within(self, seconds: float) -> None:
        """Let what begins now end after so many seconds."""
        self._at = time.monotonic() + seconds

    def bind(self, client: httpx.Client) -> httpx.Client:
        """The same client, each connect, handshake, read and write of which ends by it in a httpx.TimeoutException."""
        # httpx passes no network backend on to httpcore, and building its pools here would lose the proxies that it
        # reads from the environment
        for transport in {client._transport, *client._mounts.values()}:
            if isinstance(transport, httpx.HTTPTransport):
                pool = transport._pool
                pool._network_backend = _Backend(pool._network_backend, self)
        return client

    def cut(self, timeout: float | None, late: type[httpcore.TimeoutException]) -> float:
        """Seconds that one call to the network may take; raises `late` when there are none left."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise late
        return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.cut(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), PIECE):
            self._inner.write(buffer[start : start + PIECE], self._deadline.cut(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._deadline.cut(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, inner: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception = httpcore.ConnectError("no address")
        # given the name, the socket would try each of its addresses for the whole time
        for address in _addresses(host, port):
            left = self._deadline.cut(timeout, httpcore.ConnectTimeout)
            try:
                made = self._inner.connect_tcp(address, port, left, local_address, socket_options)
                return _Stream(made, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed


def _addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order in which they are to be tried; raises httpcore.ConnectError without any."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
