"""A worker of the API without its loop, and the time that it goes by."""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Callable, Iterator

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from touchledger import http_worker
from touchledger.http_worker import Worker


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
