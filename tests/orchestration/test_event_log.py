"""Dagster's event log with kept connections: the same events in the same files, and few files open."""

from __future__ import annotations

import os
import time
from pathlib import Path

import sqlalchemy as sa
from dagster import AssetKey, DagsterEventType, EventLogEntry
from dagster._core.events import DagsterEvent
from dagster._core.storage.event_log import SqliteEventLogStorage

from orchestration.event_log import KeptEventLog


def _event(run_id: str) -> EventLogEntry:
    told = DagsterEvent(event_type_value=DagsterEventType.RUN_START.value, job_name="build")
    return EventLogEntry(None, 20, "", run_id, time.time(), job_name="build", dagster_event=told)


def _files_open(folder: Path) -> int:
    links = Path(f"/proc/{os.getpid()}/fd").iterdir()
    return sum(os.path.realpath(link).startswith(str(folder)) for link in links)


def test_events_of_before_are_read_on_and_new_ones_are_seen_by_dagsters_own_log(tmp_path: Path) -> None:
    before = SqliteEventLogStorage(str(tmp_path))
    before.store_event(_event("one"))
    kept = KeptEventLog(str(tmp_path))
    kept.store_event(_event("one"))
    kept.store_event(_event("two"))
    assert [len(before.get_logs_for_run(run)) for run in ("one", "two")] == [2, 1]
    assert [len(kept.get_logs_for_run(run)) for run in ("one", "two")] == [2, 1]
    kept.dispose()


def test_a_table_that_comes_is_seen_and_one_that_is_there_is_looked_for_once(tmp_path: Path) -> None:
    kept = KeptEventLog(str(tmp_path))
    with kept.index_connection() as connection:
        connection.execute(sa.text("alter table asset_event_tags rename to put_away"))
    assert not kept.has_table("asset_event_tags")
    with kept.index_connection() as connection:
        connection.execute(sa.text("alter table put_away rename to asset_event_tags"))
    assert kept.has_table("asset_event_tags")
    asked: list[str] = []
    with kept.index_connection() as connection:
        sa.event.listen(connection.engine, "before_cursor_execute", lambda *seen: asked.append(seen[2]))
    for _ in range(2):
        kept.get_asset_records([AssetKey("one")])
    kept.dispose()
    assert len([sql for sql in asked if "pragma" in sql.lower() or "secondary_indexes" in sql]) <= 3


def test_as_many_files_stay_open_as_it_says_and_none_after_its_end(tmp_path: Path) -> None:
    kept = KeptEventLog(str(tmp_path))
    for number in range(KeptEventLog.KEPT * 2):
        kept.store_event(_event(f"run-{number}"))
    # a database in use has its log and its shared memory open beside it
    assert 0 < _files_open(tmp_path) <= 3 * KeptEventLog.KEPT
    kept.dispose()
    assert _files_open(tmp_path) == 0
