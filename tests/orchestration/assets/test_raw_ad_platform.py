"""The landing of ad platforms as Dagster runs it: which days a run is over, and which it tells as brought."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import dagster as dg
import pytest

from orchestration.partitions import DayRange
from tests.fixtures.sandbox import TODAY, RunningSandbox
from tests.orchestration.test_sync import connect
from touchledger.settings import Settings

KEY = dg.AssetKey(["landing", "ad_platform"])


@pytest.fixture
def instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def sync(instance: dg.DagsterInstance, tags: dict[str, str] | None = None) -> dg.ExecuteInProcessResult:
    from orchestration.definitions import defs

    return defs.resolve_job_def("sync").execute_in_process(instance=instance, tags=tags, raise_on_error=False)


def days_told(instance: dg.DagsterInstance) -> set[str]:
    return {day for day in instance.get_materialized_partitions(KEY) if day}


def newest(days: int) -> set[str]:
    return {(TODAY - timedelta(days=back)).isoformat() for back in range(days)}


def test_a_run_that_names_no_days_is_over_those_that_may_be_revised(
    instance: dg.DagsterInstance, sandbox: RunningSandbox, settings: Settings
) -> None:
    connect(settings, sandbox, synced_through=TODAY)
    assert sync(instance).success
    assert days_told(instance) == newest(28)


@pytest.mark.parametrize(
    "tags", [{"dagster/partition": TODAY.isoformat()}, DayRange(TODAY, TODAY).tags], ids=["partition", "range"]
)
def test_a_run_that_names_a_day_is_over_that_day(
    instance: dg.DagsterInstance, sandbox: RunningSandbox, settings: Settings, tags: dict[str, str]
) -> None:
    connect(settings, sandbox, synced_through=TODAY)
    assert sync(instance, tags).success
    assert days_told(instance) == newest(1)
