"""Clients that send a request or take its answer slowly, or not at all: how long a thread of the API waits for them."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from gunicorn.workers.gthread import TConn

from api.app import create_app
from tests.touchledger.conftest import Clock
from touchledger import http_worker
from touchledger.http_worker import Client, Worker
from touchledger.settings import Settings

# anybody may send here, so that the body is read before anything is refused
READ = "/api/v1/auth/sign-in"


def wait_long(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each wait take a third of the patience, which any byte that comes or goes fills up again."""
    monkeypatch.setattr(http_worker, "PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(http_worker, "LEAST_BYTES_A_SECOND", 0.01)
    clock.of_a_wait = 20.0


def trickled(client: socket.socket, content: bytes, *, every: float) -> threading.Thread:
    """A client that sends that many bytes, one by one, unless the other side has closed."""

    def send() -> None:
        with contextlib.suppress(OSError):
            for at in range(len(content)):
                client.send(content[at : at + 1])
                time.sleep(every)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("rest", [b"", b"x" * 1000])
def test_a_request_that_does_not_come_to_its_end_holds_no_thread(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, rest: bytes
) -> None:
    monkeypatch.setattr(http_worker, "PATIENCE_SECONDS", 0.3)
    client, server = socket.socketpair()
    with client:
        client.send(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        trickled(client, rest, every=0.05)
        conn = TConn(worker.cfg, server, ("127.0.0.1", 1), ("127.0.0.1", 2))
        handled = worker.tpool.submit(worker.handle, conn)
        assert handled.result(timeout=20) is False
        conn.close()


def test_a_request_that_begins_fast_and_stops_holds_no_thread(
    worker: Worker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # every thousand bytes gave a second more, so a megabyte held a thread for a quarter of an hour
    monkeypatch.setattr(http_worker, "PATIENCE_SECONDS", 0.3)
    worker.wsgi = create_app(settings)
    client, server = socket.socketpair()
    with client, server:
        head = f"POST {READ} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n"
        client.sendall(head.encode() + b"[" * 80_000)
        conn = TConn(worker.cfg, server, ("127.0.0.1", 1), ("127.0.0.1", 2))
        worker.tpool.submit(worker.handle, conn).result(timeout=20)
        conn.close()


@pytest.mark.parametrize("is_file", [False, True])
def test_an_answer_that_nobody_takes_holds_no_thread(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_file: bool
) -> None:
    # eight clients that asked for /openapi.json and read nothing of it kept the API from answering anybody
    monkeypatch.setattr(http_worker, "PATIENCE_SECONDS", 0.3)
    worker.wsgi = Long(tmp_path, is_file=is_file)
    with asking(worker) as (client, handled):
        assert handled.result(timeout=20) is False
        assert len(client.recv(65536)) > 0


@pytest.mark.parametrize("is_file", [False, True])
def test_an_answer_that_is_taken_slowly_and_steadily_goes_to_its_end(
    worker: Worker, clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_file: bool
) -> None:
    wait_long(clock, monkeypatch)
    worker.wsgi = Long(tmp_path, is_file=is_file)
    taken = 0
    with asking(worker) as (client, handled):
        while taken < Long.SIZE:
            time.sleep(0.1 if taken < 1_000_000 else 0)
            taken += len(client.recv(200_000))
        assert handled.result(timeout=60) is True


class Long:
    """An application whose answer no socket takes at once, as text or as a file."""

    SIZE = 8_000_000

    def __init__(self, folder: Path, *, is_file: bool) -> None:
        self.path, self.is_file = folder / "long", is_file
        self.path.write_bytes(b"x" * self.SIZE)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        """The answer."""
        start_response("200 OK", [("Content-Length", str(self.SIZE))])
        return environ["wsgi.file_wrapper"](self.path.open("rb")) if self.is_file else [self.path.read_bytes()]


@contextlib.contextmanager
def asking(worker: Worker) -> Iterator[tuple[socket.socket, Future[Any]]]:
    """A client over TCP that has asked for something, and what a thread of the worker makes of it."""
    with socket.create_server(("127.0.0.1", 0)) as door, socket.create_connection(door.getsockname()) as client:
        client.settimeout(60)
        conn = TConn(worker.cfg, door.accept()[0], ("127.0.0.1", 1), ("127.0.0.1", 2))
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        yield client, worker.tpool.submit(worker.handle, conn)
        conn.close()


def test_a_request_that_comes_slowly_and_steadily_is_read_to_its_end(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_long(clock, monkeypatch)
    client, server = socket.socketpair()
    with client, Client(fileno=server.detach()) as reading:
        reading.begin()
        trickled(client, b"x" * 20, every=0.02)
        assert b"".join(reading.recv(1) for _ in range(20)) == b"x" * 20
