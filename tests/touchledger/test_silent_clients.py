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
def door(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """The address of a worker of two threads that serves until the test is over."""
    monkeypatch.setattr(http_worker, "SILENCE_SECONDS", 1.0)
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
        yield listener.getsockname()
        worker.handle_exit(0, None)
        serving.join()
        worker.tmp.close()


def answer(client: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    client.settimeout(3)
    return b"".join(iter(lambda: client.recv(65536), b""))


def test_clients_that_say_nothing_keep_nobody_from_being_answered(door: tuple[str, int]) -> None:
    silent = [socket.create_connection(door) for _ in range(8)]
    time.sleep(0.2)
    with socket.create_connection(door) as client:
        client.sendall(REQUEST)
        assert answer(client).startswith(b"HTTP/1.1 200 ")
    for one in silent:
        # nobody waits for them for ever either
        assert answer(one) == b""
        one.close()


def test_clients_that_stay_after_their_last_answer_keep_nobody_from_being_answered(door: tuple[str, int]) -> None:
    # each held the loop that accepts for as long as a request may take to come
    staying = [socket.create_connection(door) for _ in range(8)]
    for one in staying:
        one.sendall(REQUEST)
        assert answer(one).startswith(b"HTTP/1.1 200 ")
    with socket.create_connection(door) as client:
        client.sendall(REQUEST)
        assert answer(client).startswith(b"HTTP/1.1 200 ")
    for one in staying:
        one.close()


def test_the_end_of_an_answer_comes_also_where_a_body_was_not_read(door: tuple[str, int]) -> None:
    with socket.create_connection(door) as client:
        client.sendall(b"POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 30_000)
        time.sleep(0.3)
        client.sendall(b"x" * 20_000)
        assert b'"not_found"' in answer(client)


def test_a_client_that_speaks_a_little_later_is_answered(door: tuple[str, int]) -> None:
    with socket.create_connection(door) as client:
        time.sleep(0.3)
        client.sendall(REQUEST)
        assert answer(client).startswith(b"HTTP/1.1 200 ")
