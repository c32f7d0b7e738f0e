"""The landing of ad platforms as Dagster runs it: which days a run is over, and which it tells as brought."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import dagster as dg
import pytest

from api.db import transaction
from api.models import Connection
from orchestration.lake import Lake
from orchestration.partitions import RANGE_END, RANGE_START, DayRange
from sandbox.ad_catalogue import ACCOUNTS
from tests.fixtures.sandbox import TODAY, RunningSandbox
from tests.orchestration.test_sync import connect
from touchledger.settings import Settings

KEY = dg.AssetKey(["landing", "ad_platform"])


@pytest.fixture
def instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    # without any file the lake would count as lost
    Lake(settings.lake).land(dataset="campaigns", profile_id="p", source="meta", batch="before", records=[])
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def sync(instance: dg.DagsterInstance, tags: dict[str, str] | None = None) -> dg.ExecuteInProcessResult:
    from orchestration.definitions import defs

    return defs.resolve_job_def("sync").execute_in_process(instance=instance, tags=tags, raise_on_error=False)


def days_told(instance: dg.DagsterInstance) -> set[str]:
    return {day for day in instance.get_materialized_partitions(KEY) if day}


def over(days: int) -> dict[str, str]:
    return DayRange(TODAY - timedelta(days=days - 1), TODAY).tags


def newest(days: int) -> set[str]:
    return {(TODAY - timedelta(days=back)).isoformat() for back in range(days)}


def test_a_run_that_names_no_days_is_over_those_that_may_be_revised(
    instance: dg.DagsterInstance, sandbox: RunningSandbox, settings: Settings
) -> None:
    connect(settings, sandbox, synced_through=TODAY)
    assert sync(instance).success
    assert days_told(instance) == newest(28)


@pytest.mark.parametrize("tags", [{"dagster/partition": TODAY.isoformat()}, over(1)], ids=["partition", "range"])
def test_a_run_that_names_a_day_is_over_that_day(
    instance: dg.DagsterInstance, sandbox: RunningSandbox, settings: Settings, tags: dict[str, str]
) -> None:
    connect(settings, sandbox, synced_through=TODAY)
    assert sync(instance, tags).success
    assert days_told(instance) == newest(1)


@pytest.mark.parametrize(("first", "last"), [("2024-03-05", "2024-03-01"), ("2024-03-05", "2999-03-01")])
def test_a_run_over_days_that_are_none_or_not_there_yet_fails_and_says_so(
    instance: dg.DagsterInstance, settings: Settings, first: str, last: str
) -> None:
    # the one succeeded with a materialization of no day; the other pulled as many days before as it looked ahead
    result = sync(instance, {RANGE_START: first, RANGE_END: last})
    (failed,) = (one for one in result.all_events if one.event_type == dg.DagsterEventType.STEP_FAILURE)
    assert f"{first} to {last} cannot be pulled" in str(failed.step_failure_data.error)
    assert instance.get_latest_materialization_event(KEY) is None


def backfill(instance: dg.DagsterInstance, days: int = 3) -> dg.ExecuteInProcessResult:
    from orchestration.definitions import defs

    job = defs.resolve_implicit_global_asset_job_def()
    return job.execute_in_process(instance=instance, asset_selection=[KEY], tags=over(days), raise_on_error=False)


def warning(result: dg.ExecuteInProcessResult) -> str | None:
    (found,) = (one for one in result.get_asset_check_evaluations() if one.asset_key == KEY)
    assert (found.check_name, found.severity) == ("connections", dg.AssetCheckSeverity.WARN)
    assert found.passed is (found.description is None)
    return found.description


def test_a_backfill_that_no_account_brought_fails_and_tells_which_and_why(
    instance: dg.DagsterInstance, sandbox: RunningSandbox, settings: Settings
) -> None:
    first, _ = connect(settings, sandbox, synced_through=TODAY)
    with transaction(settings.operational_url) as session:
        # one that is asked no more, and one that its platform refuses now
        session.get_one(Connection, first).status = "reconnect_required"
        session.get_one(Connection, first).status_reason = "connection_revoked"
    sandbox.plan(refusing(1))
    result = backfill(instance)
    assert not result.success
    one, other = (account.id for account in ACCOUNTS)
    assert warning(result) == (f"2 of 2 did not come: {other} (meta): bad_parameter; {one} (meta): connection_revoked")
    assert days_told(instance) == set()
    sandbox.plan()
    again = backfill(instance)
    assert again.success
    assert warning(again) == f"1 of 2 did not come: {one} (meta): connection_revoked"
    assert days_told(instance) == newest(3)


def test_a_backfill_tells_the_days_that_came_before_the_last_account_failed(
    instance: dg.DagsterInstance, sandbox: RunningSandbox, settings: Settings
) -> None:
    _, second = connect(settings, sandbox, synced_through=TODAY)
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, second).status = "disconnected"
    sandbox.plan({"route": "/insights$", "after": 1, "times": None, "kind": "revoked"})
    assert not backfill(instance, days=10).success
    assert set() < days_told(instance) < newest(10)


def test_what_no_account_brings_stops_no_run_that_goes_on(
    instance: dg.DagsterInstance, sandbox: RunningSandbox, settings: Settings
) -> None:
    connect(settings, sandbox, synced_through=TODAY)
    sandbox.plan(refusing(0), refusing(1))
    result = sync(instance, over(3))
    assert result.success
    assert (warning(result) or "").startswith("2 of 2 did not come: ")


def refusing(account: int) -> dict[str, Any]:
    return {"route": f"act_{ACCOUNTS[account].id}", "kind": "status", "status": 400, "code": "100", "times": None}
