"""Dagster's event log with kept connections: the same events in the same files, and few files open."""

from __future__ import annotations

import os
import time
from pathlib import Path

from dagster import DagsterEventType, EventLogEntry
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


def test_as_many_files_stay_open_as_it_says_and_none_after_its_end(tmp_path: Path) -> None:
    kept = KeptEventLog(str(tmp_path))
    for number in range(KeptEventLog.KEPT * 2):
        kept.store_event(_event(f"run-{number}"))
    # a database in use has its log and its shared memory open beside it
    assert 0 < _files_open(tmp_path) <= 3 * KeptEventLog.KEPT
    kept.dispose()
    assert _files_open(tmp_path) == 0
