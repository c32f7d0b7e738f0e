"""Which published version is current: opens it read-only, and swaps to the next without cutting a request.

A snapshot is an immutable DuckDB file `published/served-<snapshot_id>.duckdb`; `published/current.json` points at the
current one and is replaced atomically. Each process opens the file once, lazily (never before a fork), and each request
reads one snapshot from beginning to end on a cursor of its own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb
import structlog

from api import errors
from api.deadlines import Deadlines, Watch
from api.shelf import Held
from api.snapshot_files import OpenSnapshot, Signature, Unopenable, file_of, is_damage, pointer, signature, snapshot_of
from touchledger.settings import Settings

log = structlog.get_logger("api.snapshot")

POINTER = "current.json"
KEPT_OPEN = 2
# what was asked of a snapshot in the last so many seconds will be asked of the next one
READ_AHEAD_SECONDS = 600.0
RETRY_SECONDS = 5.0
RETRY_AFTER = {"Retry-After": "2"}
UNREADABLE_FIGURES = "The published figures cannot be read; retry after the seconds in Retry-After."


@dataclass(frozen=True)
class Health:
    """What `/readyz` tells: the snapshot being served (None before the first), and why it is not the newest."""

    snapshot_id: str | None
    problem: str | None


class SnapshotReader:
    """One request's cursor on one snapshot: the `served.Reader` that queries receive."""

    def __init__(self, opened: OpenSnapshot, deadlines: Deadlines, until_over: ExitStack) -> None:
        self.snapshot_id: str = opened.snapshot_id
        self.remembered = opened.remembered
        self.shelf = opened.shelf
        self._opened, self._deadlines, self._until_over = opened, deadlines, until_over
        self._begun = time.monotonic()
        self._running: tuple[duckdb.DuckDBPyConnection, Watch] | None = None

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """Rows of a query with `$name` parameters."""
        return self._executed(sql, parameters).fetchall()

    def dicts(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        """Rows of a query, by column name."""
        cursor = self._executed(sql, parameters)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def columns(self, sql: str, parameters: Mapping[str, object] | None = None) -> dict[str, Any]:
        """A numpy array per column, for many rows of numbers."""
        return dict(self._executed(sql, parameters).fetchnumpy())

    def _executed(self, sql: str, parameters: Mapping[str, object] | None) -> duckdb.DuckDBPyConnection:
        if self._running is None:
            # an answer from memory, and one that the caller has already, never need a cursor
            cursor = self._until_over.enter_context(self._opened.connection.cursor())
            self._running = cursor, self._until_over.enter_context(self._deadlines.over(cursor, begun=self._begun))
        cursor, watch = self._running
        watch.check()
        return cursor.execute(sql, dict(parameters or {}))


class Snapshots:
    """The open snapshots of this process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.published
        self._pointer = self._folder / POINTER
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._deadlines = Deadlines(self._settings.query_deadline_seconds)
        self._open: dict[str, OpenSnapshot] = {}
        self._damaged: set[str] = set()
        self._current: OpenSnapshot | None = None
        self._seen: Signature | None = None
        self._problem: str | None = None
        self._retry_at = 0.0

    @contextmanager
    def reader(self, snapshot_id: str | None = None) -> Iterator[SnapshotReader | None]:
        """The current snapshot, or the kept one of that id, for the length of a response.

        None before anything was published, and for an id that is no longer kept. Raises database_unavailable when
        nothing can be opened, service_unavailable when a query outlives its deadline or its memory.
        """
        opened = self._lease(snapshot_id)
        if opened is None:
            yield None
            return
        try:
            with ExitStack() as until_over:
                yield SnapshotReader(opened, self._deadlines, until_over)
        except (duckdb.InterruptException, duckdb.OutOfMemoryException) as refused:
            raise errors.SERVICE_UNAVAILABLE("The query took too long; narrow it.", headers=RETRY_AFTER) from refused
        except duckdb.Error as broken:
            if not is_damage(broken):
                raise
            self._distrust(opened)
            raise errors.DATABASE_UNAVAILABLE(UNREADABLE_FIGURES, headers=RETRY_AFTER) from broken
        finally:
            self._release(opened)

    def health(self) -> Health:
        """What is served now; looks at the pointer first, and never raises."""
        self._refresh()
        with self._lock:
            self._close_idle()
        return Health(self._current.snapshot_id if self._current else None, self._problem)

    def close(self) -> None:
        """Closes every open file; the next request opens anew."""
        with self._opening, self._lock:
            for opened in self._open.values():
                opened.connection.close()
        self._begin()

    def _lease(self, snapshot_id: str | None) -> OpenSnapshot | None:
        self._refresh()
        if snapshot_id is not None and not (self._folder / file_of(snapshot_id)).exists():
            # what was removed is not read again, whoever still has it open: it may hold somebody who was erased
            return None
        with self._lock:
            opened = self._current if snapshot_id is None else self._open.get(snapshot_id)
            if opened is not None:
                opened.users += 1
                opened.used_at = time.monotonic()
                return opened
        if snapshot_id is not None:
            return self._lease_older(snapshot_id)
        if self._problem is not None:
            raise errors.DATABASE_UNAVAILABLE(UNREADABLE_FIGURES, headers=RETRY_AFTER)
        return None

    def _lease_older(self, snapshot_id: str) -> OpenSnapshot | None:
        with self._opening:
            try:
                opened = self._opened(snapshot_id)
            except Unopenable:
                return None
            with self._lock:
                opened.users += 1
        return opened

    def _release(self, opened: OpenSnapshot) -> None:
        with self._lock:
            opened.users -= 1
            opened.used_at = time.monotonic()
            if opened.users == 0 and opened.snapshot_id in self._damaged:
                opened.connection.close()
            self._close_idle()

    def _distrust(self, opened: OpenSnapshot) -> None:
        """Never read a damaged file again: the next request advances, and finds the snapshot before it."""
        with self._lock:
            self._damaged.add(opened.snapshot_id)
            self._open.pop(opened.snapshot_id, None)
            if self._current is opened:
                # with a problem named, a request that comes in between is refused, not told that there are no data
                self._current, self._seen = None, None
                self._problem = f"{file_of(opened.snapshot_id)} is damaged"

    def _refresh(self) -> None:
        if os.getpid() != self._pid:
            # the parent's connections are neither used nor freed here: their threads did not survive the fork
            _of_the_parent.append(dict(self.__dict__))
            self._begin()
        found = signature(self._pointer)
        if not self._is_news(found):
            return
        # with a snapshot in hand one thread opens the next, and the others go on reading the old one meanwhile; but not
        # one that was removed: it may hold somebody who was erased, and the file of its names is gone with it
        served = self._current
        if not self._opening.acquire(blocking=served is None or not served.path.exists()):
            return
        try:
            if self._is_news(found):
                self._advance(found)
        finally:
            self._opening.release()
        with self._lock:
            self._close_idle()

    def _is_news(self, found: Signature | None) -> bool:
        if found != self._seen:
            return True
        return self._problem is not None and time.monotonic() >= self._retry_at

    def _advance(self, found: Signature | None) -> None:
        before = current = self._current
        problem = None
        if found is None:
            problem = "the pointer to the current snapshot is gone" if current else None
        else:
            try:
                current = self._opened(snapshot_of(pointer(self._pointer).get("file")))
            except Unopenable as unopenable:
                problem = str(unopenable)
                current = current or self._newest_before_the_broken_one()
        if problem is not None and problem != self._problem:
            # answers do not say why, and it is looked at again every few seconds
            log.error("snapshot_not_served", problem=problem, served=current and current.snapshot_id)
        with self._lock:
            self._current, self._problem, self._seen = current, problem, found
            self._retry_at = time.monotonic() + RETRY_SECONDS
        if before is not None and current is not None and current is not before:
            of = (before.shelf.used_within(READ_AHEAD_SECONDS), current)
            threading.Thread(target=self._read_ahead, args=of, name="read-ahead", daemon=True).start()

    def _read_ahead(self, used: Sequence[tuple[Hashable, Held]], opened: OpenSnapshot) -> None:
        """Have in memory what requests asked of the snapshot before, so that none of them waits for it."""
        with self._lock:
            opened.users += 1
        try:
            for place, like in used:
                if self._current is not opened:
                    break
                with ExitStack() as until_over:
                    opened.shelf.read_ahead(place, like, SnapshotReader(opened, self._deadlines, until_over))
        except duckdb.Error as problem:
            # whoever asks for it reads it, and refuses or distrusts as a reader does
            log.warning("not_read_ahead", snapshot_id=opened.snapshot_id, problem=type(problem).__name__)
        finally:
            self._release(opened)

    def _opened(self, snapshot_id: str) -> OpenSnapshot:
        """Call while opening: nothing is closed in the meantime."""
        with self._lock:
            known = self._open.get(snapshot_id)
        if known is not None:
            return known
        if snapshot_id in self._damaged:
            raise Unopenable(f"{file_of(snapshot_id)} is damaged")
        opened = OpenSnapshot(self._folder / file_of(snapshot_id), self._settings)
        with self._lock:
            self._open[snapshot_id] = opened
        return opened

    def _newest_before_the_broken_one(self) -> OpenSnapshot | None:
        """For a process that starts while the newest file is broken: yesterday's figures rather than none."""
        try:
            broken = int(pointer(self._pointer)["token"])
        except (Unopenable, KeyError, TypeError, ValueError):
            return None
        candidates = []
        for path in self._folder.glob(file_of("*")):
            try:
                candidates.append(self._opened(snapshot_of(path.name)))
            except Unopenable:
                continue
        return max((one for one in candidates if one.token < broken), key=lambda one: one.token, default=None)

    def _close_idle(self) -> None:
        """Closes files that no request reads: removed ones, and the least recently used beyond KEPT_OPEN.

        Call it under the lock.
        """
        if self._opening.locked():
            return
        spare = [one for one in self._open.values() if one is not self._current and one.users == 0]
        # as long as it is open, a file keeps its bytes on the disk, whoever removed it
        removed = [one for one in spare if not one.path.exists()]
        there = sorted((one for one in spare if one not in removed), key=lambda one: one.used_at)
        for opened in [*removed, *there[: max(0, len(self._open) - len(removed) - KEPT_OPEN)]]:
            del self._open[opened.snapshot_id]
            opened.connection.close()


_of_the_parent: list[dict[str, object]] = []


@lru_cache(maxsize=8)
def snapshots(settings: Settings) -> Snapshots:
    """The snapshots of one deployment in this process."""
    return Snapshots(settings)
