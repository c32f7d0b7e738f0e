"""One writer at a time, or who is at work beside others: locks on files that the kernel releases however one ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.1


class WriterBusyError(RuntimeError):
    """Another process holds the lock."""


@contextmanager
def only_writer(path: Path, *, purpose: str, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock `path` while the block runs.

    Raises WriterBusyError, naming the holder, when it is not free within `wait_seconds`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire(descriptor, path, purpose, time.monotonic() + wait_seconds)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"pid {os.getpid()}, to {purpose}".encode(), 0)
        yield
    finally:
        # the file stays: unlinking a locked file would let a third process lock a second file of that name
        os.close(descriptor)


@contextmanager
def among_others(path: Path) -> Iterator[bool]:
    """Hold a share of the lock `path` while the block runs; gives whether nobody else held one when it began."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield _share(descriptor)
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether another process holds the lock `path` whole. Raises OSError where it may not be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _share(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_alone = True
    except BlockingIOError:
        is_alone = False
    # whoever had it whole gives all but a share back at once
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return is_alone


def _acquire(descriptor: int, path: Path, purpose: str, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise WriterBusyError(_busy(path, purpose)) from None
            time.sleep(POLL_SECONDS)


def _busy(path: Path, purpose: str) -> str:
    holder = path.read_text() or "a process that has just started"
    return f"cannot {purpose}: {path} is held by {holder}. Wait for it to end, or end that process."
