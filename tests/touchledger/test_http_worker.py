"""A worker that serves connections already leaves a new one to another; none searches what it imported."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http.errors import InvalidResponseHeader
from gunicorn.workers.gthread import TConn

from api.app import create_app
from touchledger import http_worker
from touchledger.http_worker import Client, Worker
from touchledger.settings import Settings

# anybody may send here, so that the body is read before anything is refused
READ = "/api/v1/auth/sign-in"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as one:
        one.setblocking(False)
        yield one


class Clock:
    """A worker's time: to sleep takes none of it, and to wait for a client always the same."""

    def __init__(self) -> None:
        self.now, self.of_a_wait, self.slept = 0.0, 0.0, list[float]()
        self.while_asleep: Callable[[], object] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.while_asleep()

    def monotonic(self) -> float:
        self.now += self.of_a_wait
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(http_worker, "time", made)
    return made


@pytest.fixture
def worker(listener: socket.socket) -> Iterator[Worker]:
    """A worker before its loop."""
    config = Config()
    config.set("workers", 2)
    one = Worker(1, os.getppid(), [listener], None, 30, config, Logger(config))
    one.tpool = one.get_thread_pool()
    one.method_queue.init()
    with selectors.DefaultSelector() as one.poller:
        yield one
    one.tpool.shutdown()
    one.method_queue.run_callbacks(None)  # closes what was accepted
    for conn in one.pending_conns:
        conn.close()
    one.method_queue.close()
    one.tmp.close()


def test_a_worker_without_connections_accepts_at_once(worker: Worker, listener: socket.socket, clock: Clock) -> None:
    with socket.create_connection(listener.getsockname()):
        worker.accept(listener)
    assert (worker.nr_conns, clock.slept) == (1, [])


def test_a_worker_with_connections_leaves_the_next_to_another(
    worker: Worker, listener: socket.socket, clock: Clock
) -> None:
    worker.nr_conns = 1
    clock.while_asleep = lambda: listener.accept()[0].close()
    with socket.create_connection(listener.getsockname()):
        worker.accept(listener)
    assert (worker.nr_conns, clock.slept) == (1, [http_worker.HESITATION_SECONDS])


def test_an_only_worker_waits_for_nobody(worker: Worker, listener: socket.socket, clock: Clock) -> None:
    worker.cfg.set("workers", 1)
    worker.nr_conns = 1
    with socket.create_connection(listener.getsockname()):
        worker.accept(listener)
    assert (worker.nr_conns, clock.slept) == (2, [])


def test_what_no_other_worker_takes_is_accepted_after_all(
    worker: Worker, listener: socket.socket, clock: Clock
) -> None:
    worker.nr_conns = 1
    with socket.create_connection(listener.getsockname()):
        worker.accept(listener)
    assert (worker.nr_conns, len(clock.slept)) == (2, 1)


def test_a_worker_that_ends_answers_who_has_connected_and_lets_nobody_else_connect(
    worker: Worker, listener: socket.socket, settings: Settings
) -> None:
    # the system let them connect until the last request under way was answered, and then cut them off
    worker.wsgi = create_app(settings)
    address = listener.getsockname()
    with socket.create_connection(address) as client:
        worker.set_accept_enabled(True)
        client.sendall(b"GET /api/v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n")
        worker.alive = False
        worker.set_accept_enabled(False)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
        client.settimeout(60)
        told = client.recv(65536).decode()
        worker.set_accept_enabled(False)
    assert told.startswith("HTTP/1.1 404 ")
    assert "\r\nConnection: close\r\n" in told


class Application:
    """What gunicorn loads: of many objects that stay."""

    def wsgi(self) -> list[list[int]]:
        """The objects, which stand for a callable here."""
        return [[n] for n in range(10_000)]


def test_an_application_is_left_out_of_searches_for_garbage(worker: Worker) -> None:
    worker.app = Application()
    frozen = gc.get_freeze_count()
    try:
        worker.load_wsgi()
        assert gc.get_freeze_count() - frozen > 10_000
        assert not any(one is worker.wsgi for one in gc.get_objects())
        # what comes later is searched
        later: list[list[int]] = [[]]
        assert any(one is later for one in gc.get_objects())
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("fault", [InvalidResponseHeader("a: b"), ValueError("hush")])
def test_a_fault_of_ours_around_a_request_is_told_as_such(worker: Worker, settings: Settings, fault: Exception) -> None:
    worker.wsgi = create_app(settings)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker.handle_error(None, ours, None, fault)
        told = theirs.recv(65536).decode()
    assert told.startswith("HTTP/1.1 500 ")
    assert json.loads(told.partition("\r\n\r\n")[2])["error"]["code"] == "internal_error"
    assert "hush" not in told


@pytest.mark.parametrize(
    ("path", "size", "connection"),
    [("/api/v1/nothing", 1_000, "keep-alive"), ("/api/v1/nothing", 70_000, "close"), (READ, 70_000, "keep-alive")],
)
def test_an_answer_says_whether_the_connection_outlives_its_request(
    worker: Worker, settings: Settings, path: str, size: int, connection: str
) -> None:
    # a refused upload was answered with keep-alive, and whoever sent the next request there had no answer
    body = b"[" + b"0," * (size // 2 - 1) + b"0]"
    kept, told = answered(worker, settings, f"POST {path}", f"Content-Length: {len(body)}", body)
    assert f"\r\nConnection: {connection}\r\n" in told
    assert kept is (connection == "keep-alive")


def test_a_body_in_chunks_that_nobody_read_ends_the_connection(worker: Worker, settings: Settings) -> None:
    chunks = b"2\r\n[]\r\n0\r\n\r\n"
    kept, told = answered(worker, settings, "POST /api/v1/nothing", "Transfer-Encoding: chunked", chunks)
    assert "\r\nConnection: close\r\n" in told
    assert not kept
    kept, told = answered(worker, settings, f"POST {READ}", "Transfer-Encoding: chunked", chunks)
    assert "\r\nConnection: keep-alive\r\n" in told
    assert kept


def answered(worker: Worker, settings: Settings, line: str, length: str, body: bytes) -> tuple[bool, str]:
    """Whether the worker keeps the connection of one request, and what it answers."""
    worker.wsgi = create_app(settings)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        head = f"{line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{length}\r\n\r\n"
        theirs.sendall(head.encode() + body)
        connection = TConn(worker.cfg, ours, ("127.0.0.1", 1), ("127.0.0.1", 2))
        kept = worker.handle(connection)
        told = theirs.recv(65536).decode()
    # the worker reads from a socket of its own, which it leaves open for the next request
    connection.sock.close()
    return kept, told


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
