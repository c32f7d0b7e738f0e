"""Clients that connect and say nothing hold no thread: as many as there are threads kept the API from answering."""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from api.app import create_app
from touchledger import http_worker
from touchledger.http_worker import Worker
from touchledger.settings import Settings

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.fixture
def worker(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """A worker of two threads that serves until the test is over, and waits for clients for as long as it takes."""
    for name in ("SILENCE_SECONDS", "LEAVING_SECONDS"):
        monkeypatch.setattr(http_worker, name, 300.0)
    config = Config()
    config.set("threads", 2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        worker = Worker(1, os.getppid(), [listener], None, 30, config, Logger(config))
        worker.wsgi = create_app(settings)
        worker.tpool = worker.get_thread_pool()
        worker.poller = selectors.DefaultSelector()
        worker.method_queue.init()
        serving = threading.Thread(target=worker.run)
        serving.start()
        yield worker
        worker.handle_exit(0, None)
        serving.join()
        worker.tmp.close()


def connected(worker: Worker) -> socket.socket:
    return socket.create_connection(worker.sockets[0].getsockname())


def answer(client: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    client.settimeout(60)
    return b"".join(iter(lambda: client.recv(65536), b""))


def test_clients_that_say_nothing_keep_nobody_from_being_answered(worker: Worker) -> None:
    silent = [connected(worker) for _ in range(8)]
    with connected(worker) as client:
        client.sendall(REQUEST)
        assert answer(client).startswith(b"HTTP/1.1 200 ")
    for one in silent:
        # none of them had to go for that
        one.setblocking(False)
        with pytest.raises(BlockingIOError):
            one.recv(1)
        one.close()


def test_a_client_that_goes_on_saying_nothing_is_left(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_worker, "SILENCE_SECONDS", 0.2)
    with connected(worker) as silent:
        assert answer(silent) == b""


def test_clients_that_stay_after_their_last_answer_keep_nobody_from_being_answered(worker: Worker) -> None:
    # each held the loop that accepts for as long as a request may take to come
    staying = [connected(worker) for _ in range(8)]
    for one in staying:
        one.sendall(REQUEST)
        assert answer(one).startswith(b"HTTP/1.1 200 ")
    with connected(worker) as client:
        client.sendall(REQUEST)
        assert answer(client).startswith(b"HTTP/1.1 200 ")
    assert len(worker.leaving) >= len(staying)
    for one in staying:
        one.close()


def test_the_end_of_an_answer_comes_also_where_a_body_was_not_read(worker: Worker) -> None:
    with connected(worker) as client:
        client.sendall(b"POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 30_000)
        time.sleep(0.3)
        client.sendall(b"x" * 20_000)
        assert b'"not_found"' in answer(client)


def test_a_client_that_speaks_a_little_later_is_answered(worker: Worker) -> None:
    with connected(worker) as client:
        time.sleep(0.3)
        client.sendall(REQUEST)
        assert answer(client).startswith(b"HTTP/1.1 200 ")
