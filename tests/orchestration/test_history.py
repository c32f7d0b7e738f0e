"""Which runs leave Dagster's books with time, and that its pages know all the same what is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy as sa
from dagster._core.storage.event_log import SqlEventLogStorage

from orchestration import history
from orchestration.history import forget
from orchestration.instance import prepare_instance
from touchledger.settings import Settings

LATER = datetime.now(UTC) + timedelta(days=31)
SUCCESS = dg.DagsterRunStatus.SUCCESS


@dg.asset(partitions_def=dg.DailyPartitionsDefinition("2026-11-01", end_date="2026-11-09"))
def delivery() -> None:
    """Days of a platform."""


@dg.asset(check_specs=[dg.AssetCheckSpec("whole", asset="served")])
def served() -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """What is made anew with each build."""
    yield dg.AssetCheckResult(passed=True, check_name="whole")
    yield dg.MaterializeResult(asset_key="served")


@dg.asset_check(asset=served)
def seldom() -> dg.AssetCheckResult:
    """A check that runs by itself."""
    return dg.AssetCheckResult(passed=True)


@pytest.fixture
def instance(deployment: Settings) -> Iterator[dg.DagsterInstance]:
    prepare_instance(deployment)
    with dg.DagsterInstance.get() as found:
        yield found


def _make(instance: dg.DagsterInstance, *assets: dg.AssetsDefinition, day: str | None = None) -> str:
    return dg.materialize(assets, instance=instance, partition_key=day).run_id


def _files(settings: Settings, run_id: str) -> list[Path]:
    found = [Path(folder, name) for folder, *parts in os.walk(settings.dagster_home) for some in parts for name in some]
    return [path for path in found if run_id in path.name]


def test_a_run_that_was_followed_in_all_it_made_goes_with_its_files(
    instance: dg.DagsterInstance, deployment: Settings
) -> None:
    old = [_make(instance, delivery, day="2026-11-01"), _make(instance, served)]
    judged = dg.materialize([served, seldom], selection=dg.AssetSelection.checks(seldom), instance=instance).run_id
    kept = [judged, *(_make(instance, delivery, day=day) for day in ("2026-11-02", "2026-11-01"))]
    kept.append(_make(instance, served))
    days = instance.get_materialized_partitions(delivery.key)
    assert all(_files(deployment, run_id) for run_id in old)
    assert forget(instance, deployment, LATER - timedelta(days=2)) == 0
    assert forget(instance, deployment, LATER) == 2
    assert {run.run_id for run in instance.get_runs()} == set(kept)
    assert instance.get_materialized_partitions(delivery.key) == days == {"2026-11-01", "2026-11-02"}
    assert [path for run_id in old for path in _files(deployment, run_id)] == []
    storage = instance.event_log_storage
    assert isinstance(storage, SqlEventLogStorage)
    for table in ("event_logs", "asset_check_executions"):
        with storage.index_connection() as connection:
            told = set(connection.scalars(sa.text(f"select run_id from {table} where run_id is not null")))
        assert told and not told & set(old), table
    assert forget(instance, deployment, LATER) == 0


def test_a_run_that_ended_without_a_trace_goes_and_one_that_is_still_to_end_stays(
    instance: dg.DagsterInstance, deployment: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for status in (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.STARTED):
        instance.add_run(dg.DagsterRun("build", run_id=status.value.lower(), status=status))
    assert forget(instance, deployment.model_copy(update={"run_history_days": 0}), LATER) == 0
    monkeypatch.setattr(history, "AT_ONCE", 1)
    assert forget(instance, deployment, LATER) == 1
    # the oldest first
    assert {run.run_id for run in instance.get_runs()} == {"canceled", "started"}
    assert forget(instance, deployment, LATER) == 1
    assert [run.run_id for run in instance.get_runs()] == ["started"]


def test_of_runs_in_quick_succession_the_newest_stay_however_young_the_others_are(
    instance: dg.DagsterInstance, deployment: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_A_DAY", 2)
    few = deployment.model_copy(update={"run_history_days": 2})
    # Dagster lists runs in the order in which it was told of them
    for number in range(7):
        instance.add_run(dg.DagsterRun("build", run_id=f"run{number}", status=SUCCESS))
    instance.add_run(dg.DagsterRun("build", run_id="begun", status=dg.DagsterRunStatus.STARTED))
    last = _make(instance, served)
    now = datetime.now(UTC)
    assert forget(instance, few.model_copy(update={"run_history_days": 0}), now) == 0
    assert forget(instance, few, now) == 4
    assert {run.run_id for run in instance.get_runs()} == {"run4", "run5", "run6", "begun", last}
    assert forget(instance, few, now) == 0
