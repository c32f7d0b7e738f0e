"""Whose turn it is to write to an SQLite file, among the threads and processes of this machine.

SQLite lets one transaction write and makes the others sleep and try again, longer each time: under load somebody sleeps
through turn after turn. Here a thread is woken as soon as the one before is done, and one thread of each process looks
often. It is an order of waiting, no more; the lock that keeps the file whole is SQLite's own.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import suppress

from api.once import Once

# as long as SQLite waits
PATIENCE_SECONDS = 10.0
# the system wakes who waits for a lock of a file, but would let nobody give up: its holder may stand still
LOOK_SECONDS, SELDOM_SECONDS = 0.0002, 0.002


class Turn:
    """The turns of one file; `path` names a file beside it that holds nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._opened: tuple[int, int] | None = None

    def take(self) -> bool:
        """Wait for one's turn; False when it did not come in time, and SQLite's own waiting decides."""
        until = time.monotonic() + PATIENCE_SECONDS
        if not self._threads.acquire(timeout=PATIENCE_SECONDS):
            return False
        try:
            is_ours = self._lock(until)
        except BaseException:
            # told to stop: what is written on the way out waits for its turn too
            self.pass_on()
            raise
        if not is_ours:
            self._threads.release()
        return is_ours

    def _lock(self, until: float) -> bool:
        pause = LOOK_SECONDS
        try:
            file = self._file()
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except BlockingIOError:
                    if time.monotonic() >= until:
                        return False
                time.sleep(pause)
                pause = min(2 * pause, SELDOM_SECONDS)
        except OSError:
            # on a file system without locks threads still take turns
            return True

    def pass_on(self) -> None:
        """Wake who waits."""
        with suppress(OSError):
            fcntl.flock(self._file(), fcntl.LOCK_UN)
        self._threads.release()

    def _file(self) -> int:
        # a forked process would share the lock of its parent with the file
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._opened[1]


@Once
def turn_at(database: str) -> Turn:
    """The turns of the SQLite file at a path."""
    return Turn(f"{database}-turn")


# a lock that a thread of the parent held would stay locked in the child for ever
os.register_at_fork(after_in_child=turn_at.forget)
