"""What a provider cannot do by going on slowly: hold a request beyond the time that the whole of it may take."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from connectors.deadline import PIECE
from connectors.downloads import Limits, fetch
from connectors.errors import OutOfTime, Transient
from connectors.meta_dialect import MetaDialect
from connectors.transport import Policy, Request, Transport

PATIENT = Policy(attempts=1, connect_timeout=20, read_timeout=20, whole_timeout=0.3)
DRIPS = 150
BETWEEN = 0.02
# without a body, between whose pieces the clock could be asked
BARE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def serving(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The host and port of one who does this with each connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        answer(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        host, port = listener.getsockname()
        try:
            yield f"{host}:{port}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def drip(connection: socket.socket, first: bytes, then: bytes, last: bytes) -> None:
    """Send a little at a time for three seconds, whether or not anybody still listens to it."""
    connection.sendall(first)
    for _ in range(DRIPS):
        threading.Event().wait(BETWEEN)
        connection.sendall(then)
    connection.sendall(last)


def in_the_headers(connection: socket.socket) -> None:
    connection.recv(1 << 16)
    drip(connection, b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", b"\r\n" + BARE.partition(b"\r\n")[2])


def between_answers(connection: socket.socket) -> None:
    connection.recv(1 << 16)
    drip(connection, b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", BARE)


def in_the_body(connection: socket.socket) -> None:
    connection.recv(1 << 16)
    drip(connection, f"HTTP/1.1 200 OK\r\nContent-Length: {DRIPS}\r\n\r\n".encode(), b" ", b"")


def in_the_handshake(connection: socket.socket) -> None:
    connection.recv(1 << 16)
    # a record of TLS that announces more than it goes on to hold
    drip(connection, b"\x16\x03\x03\x40\x00", b"x", b"")


def while_reading(connection: socket.socket) -> None:
    for _ in range(DRIPS):
        threading.Event().wait(BETWEEN)
        connection.recv(PIECE)


@pytest.mark.parametrize(
    ("slow", "scheme"),
    [(in_the_headers, "http"), (between_answers, "http"), (in_the_body, "http"), (in_the_handshake, "https")],
)
def test_an_answer_in_drips_is_cut_off_wherever_it_drips(slow: Callable[[socket.socket], None], scheme: str) -> None:
    with serving(slow) as address, Transport(PATIENT) as transport, pytest.raises(Transient) as caught:
        transport.send(Request("GET", f"{scheme}://{address}/"), MetaDialect())
    assert caught.value.reason == "timeout"


def test_who_reads_slowly_is_not_sent_to_for_longer_than_the_whole_may_take() -> None:
    with serving(while_reading) as address, Transport(PATIENT) as transport, pytest.raises(Transient) as caught:
        transport.send(Request("POST", f"http://{address}/", content=bytes(64 << 20)), MetaDialect())
    assert caught.value.reason == "timeout"


@contextmanager
def deaf() -> Iterator[int]:
    """A port at which nobody takes up a connection, nor refuses it."""
    with ExitStack() as opened:
        listener = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            caller = opened.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def name(monkeypatch: pytest.MonkeyPatch, *found: tuple[str, int]) -> None:
    """Let these be the addresses of provider.example."""
    told = socket.getaddrinfo

    def look_up(host: Any, port: Any, *arguments: Any, **named: Any) -> list[Any]:
        places = found if host == "provider.example" else [(host, port)]
        return [one for place in places for one in told(*place, *arguments, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def test_all_addresses_of_a_host_are_tried_within_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[socket.socket] = []
    with deaf() as port, serving(reached.append) as address, Transport(PATIENT) as transport:
        name(monkeypatch, ("127.0.0.1", port), ("127.0.0.1", int(address.rpartition(":")[2])))
        with pytest.raises(Transient) as caught:
            transport.send(Request("GET", f"http://provider.example:{port}/"), MetaDialect())
    assert (caught.value.reason, reached) == ("timeout", [])


def test_an_address_that_refuses_is_followed_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    with serving(answer) as address, Transport(Policy(attempts=1)) as transport:
        port = int(address.rpartition(":")[2])
        name(monkeypatch, ("::1", port), ("127.0.0.1", port))
        assert transport.send(Request("GET", f"http://provider.example:{port}/"), MetaDialect()).body == {}


def test_the_time_for_all_requests_cuts_off_the_one_under_way() -> None:
    policy = Policy(attempts=1, read_timeout=20)
    with serving(in_the_headers) as address, Transport(policy, within=0.3) as transport, pytest.raises(OutOfTime):
        transport.send(Request("GET", f"http://{address}/"), MetaDialect())


@pytest.mark.parametrize("slow", [in_the_headers, in_the_body])
def test_a_download_in_drips_is_cut_off(slow: Callable[[socket.socket], None]) -> None:
    limits = Limits(most_bytes=1000, silence=20, within=0.3)
    with serving(slow) as address, pytest.raises(Transient) as caught:
        fetch("meta", f"http://{address}/", "token", io.BytesIO(), limits)
    assert caught.value.reason == "timeout"


def test_each_request_has_the_whole_time_on_a_connection_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0.0

    def answer(connection: socket.socket) -> None:
        nonlocal taken
        while connection.recv(1 << 16):
            taken += 200
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    # a clock on which each answer takes two thirds of that
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + taken)
    monkeypatch.setattr("connectors.deadline.time", clock)
    policy = Policy(attempts=1, read_timeout=60, whole_timeout=300)
    with serving(answer) as address, Transport(policy) as transport:
        for _ in range(3):
            assert transport.send(Request("GET", f"http://{address}/"), MetaDialect()).body == {}
