"""What waits for its turn is not asked for again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg
import pytest

from orchestration.partitions import LEAVES_SILENT
from orchestration.queued import is_queued
from orchestration.schedules import SCHEDULES
from orchestration.sensors import new_input
from tests.orchestration.test_sensors import accept_one, noted_run
from touchledger.settings import Settings


@pytest.fixture
def instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


def test_news_start_no_second_build_while_one_waits_that_takes_them_along(
    instance: dg.DagsterInstance, settings: Settings
) -> None:
    # each look queued one more: after a day of builds of five minutes the night's run stood behind hundreds
    accept_one(settings)
    for job in ("build", "nightly"):
        run = noted_run(instance, job, "ENQUEUED")
        assert isinstance(new_input(dg.build_sensor_context(instance=instance)), dg.SkipReason)
        # one under way may have landed what there was before
        instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", job), run.run_id)
        assert isinstance(new_input(dg.build_sensor_context(instance=instance)), dg.SensorResult)


def test_what_does_not_land_all_keeps_no_build_waiting(instance: dg.DagsterInstance) -> None:
    noted_run(instance, "hourly_delivery", "ENQUEUED")
    noted_run(instance, "build", "ENQUEUED", asset_selection=frozenset({dg.AssetKey(["published"])}))
    noted_run(instance, "build", "ENQUEUED", step_keys_to_execute=["published"])
    assert not is_queued(instance, {"build", "nightly"})


def test_the_hourly_run_alone_leaves_accounts_that_rest(instance: dg.DagsterInstance) -> None:
    at = dg.build_schedule_context(instance=instance, scheduled_execution_time=datetime(2026, 11, 16, tzinfo=UTC))
    requests = {one.name: one.evaluate_tick(at).run_requests or [] for one in SCHEDULES}
    assert [name for name, (request,) in requests.items() if LEAVES_SILENT in request.tags] == ["hourly_delivery"]


def test_a_schedule_asks_for_no_second_run_while_its_last_one_waits(instance: dg.DagsterInstance) -> None:
    at = datetime(2026, 11, 16, tzinfo=UTC)

    def asked() -> dict[str, int]:
        context = dg.build_schedule_context(instance=instance, scheduled_execution_time=at)
        return {one.name: len(one.evaluate_tick(context).run_requests or []) for one in SCHEDULES}

    # one that somebody launched, or a sensor for one account, may do less
    jobs = {one.name: noted_run(instance, one.job_name, "ENQUEUED").job_name for one in SCHEDULES}
    assert asked() == dict.fromkeys(jobs, 1)
    for name, job in jobs.items():
        noted_run(instance, job, "ENQUEUED", {"dagster/schedule_name": name})
    assert asked() == dict.fromkeys(jobs, 0)
