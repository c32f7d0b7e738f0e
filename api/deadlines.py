"""Queries that outlive their deadline are interrupted: one watching thread per process."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


class Watch:
    """One request's cursor and the monotonic time it may not outlive; `cursor` is None once the request is over."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, at: float) -> None:
        self.cursor: duckdb.DuckDBPyConnection | None = cursor
        self.at = at

    def check(self) -> None:
        """Raises when the time is up: an interrupt that falls between two queries of a request stops neither."""
        if time.monotonic() >= self.at:
            raise duckdb.InterruptException("the deadline passed before the query began")


class Deadlines:
    """Interrupts what still runs `seconds` after it began. All deadlines are equally long: a queue is enough."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._queue: deque[Watch] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, cursor: duckdb.DuckDBPyConnection, *, begun: float | None = None) -> Iterator[Watch]:
        """Watches the cursor while the block runs; a query cut short raises `duckdb.InterruptException`.

        The time runs from `begun` (monotonic), which is now unless it is given.
        """
        watch = Watch(cursor, (time.monotonic() if begun is None else begun) + self._seconds)
        with self._changed:
            self._queue.append(watch)
            self._start()
            if len(self._queue) == 1:
                self._changed.notify()
        try:
            yield watch
        finally:
            with self._changed:
                watch.cursor = None

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="query-deadlines", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._queue and self._queue[0].cursor is None:
                    self._queue.popleft()
                if not self._queue:
                    self._changed.wait()
                    continue
                left = self._queue[0].at - time.monotonic()
                if left <= 0:
                    self._interrupt(self._queue.popleft())
                    continue
            time.sleep(left)

    @staticmethod
    def _interrupt(watch: Watch) -> None:
        if watch.cursor is not None:
            watch.cursor.interrupt()
