"""A worker that serves connections already leaves a new one to another; none searches what it imported."""

from __future__ import annotations

import gc
import json
import socket

import pytest
from gunicorn.http.errors import InvalidResponseHeader
from gunicorn.workers.gthread import TConn

from api.app import create_app
from tests.touchledger.conftest import Clock
from touchledger import http_worker
from touchledger.http_worker import Worker
from touchledger.settings import Settings

# anybody may send here, so that the body is read before anything is refused
READ = "/api/v1/auth/sign-in"


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
