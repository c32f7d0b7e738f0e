"""Dagster's event log on SQLite, with one connection a file instead of one an event, and its schema looked up once.

Dagster opens a connection for each event and closes it again; the last one to close writes the whole log back into the
file and waits for the disk, twice an event. A build of some six hundred events spent a third of its time there. With
each event, and each asset that it looks up, it also asks, up to five times, whether tables, columns and migrations that
older versions lacked are there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dagster import StringSource
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy.pool import StaticPool


class KeptEventLog(SqliteEventLogStorage):
    """The same files and tables; at most `KEPT` of them stay open, and a power cut may lose the last events only."""

    KEPT = 4

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: dict[tuple[int, str], sa.Engine] = {}
        self._there: set[str] = set()
        super().__init__(base_dir, inst_data)

    @classmethod
    def config_type(cls) -> Any:
        return {"base_dir": StringSource}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> KeptEventLog:
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[sa.Connection]:
        with self._db_lock:
            engine = self._engine(shard)
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.begin() as connection:
                yield connection

    def _engine(self, shard: str) -> sa.Engine:
        # a connection must not cross a fork
        key = (os.getpid(), shard)
        engine = self._engines.pop(key, None) or _opened(self.conn_string_for_shard(shard))
        self._engines[key] = engine
        while len(self._engines) > self.KEPT:
            self._engines.pop(next(iter(self._engines))).dispose()
        return engine

    def has_table(self, table_name: str) -> bool:
        return self._is_there(f"table {table_name}", lambda: super(KeptEventLog, self).has_table(table_name))

    def has_secondary_index(self, name: str) -> bool:
        return self._is_there(f"index {name}", lambda: super(KeptEventLog, self).has_secondary_index(name))

    def _has_asset_key_col_on_connection(self, conn: sa.Connection, column_name: str) -> bool:
        ask = super()._has_asset_key_col_on_connection
        return self._is_there(f"column {column_name}", lambda: ask(conn, column_name))

    def _is_there(self, what: str, ask: Callable[[], bool]) -> bool:
        # what is there stays; what is not may come with the migration of another process
        if what not in self._there and ask():
            self._there.add(what)
        return what in self._there

    def delete_events(self, run_id: str) -> None:
        # Dagster empties the run's own file of its events, and leaves it as large as it was
        with self._db_lock:
            if engine := self._engines.pop((os.getpid(), run_id), None):
                engine.dispose()
            self._initialized_dbs.discard(run_id)
            for end in ("", "-wal", "-shm"):
                Path(f"{self.path_for_shard(run_id)}{end}").unlink(missing_ok=True)
        with self.index_connection() as connection:
            self.delete_events_for_run(connection, run_id)
        if self.supports_global_concurrency_limits:
            self.free_concurrency_slots_for_run(run_id)

    def dispose(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()
        super().dispose()


def _opened(url: str) -> sa.Engine:
    engine = sa.create_engine(
        url, poolclass=StaticPool, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False}
    )
    sa.event.listen(engine, "connect", _wait_less)
    return engine


def _wait_less(connection: Any, _record: object) -> None:
    # with the log written ahead this never harms the file: the disk is waited for when the log is folded in
    connection.execute("pragma synchronous = normal")
