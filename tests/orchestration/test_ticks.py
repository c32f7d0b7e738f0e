"""A clock that was ahead, and what Dagster noted then: once it is right, nothing waits for that time to come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain

import dagster as dg
import pytest
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import RemoteInstigatorOrigin
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    ScheduleInstigatorData,
    SensorInstigatorData,
    TickData,
    TickStatus,
)

from orchestration.instance import origin_of, prepare_instance
from orchestration.ticks import TIMES, forget_ahead
from touchledger.settings import Settings

NOW = datetime(2026, 11, 28, 14, 21, tzinfo=UTC)
DAY = timedelta(days=1)
WHENS = (NOW - DAY, NOW + 365 * DAY)


@pytest.fixture
def instance(deployment: Settings) -> Iterator[dg.DagsterInstance]:
    prepare_instance(deployment)
    with dg.DagsterInstance.get() as found:
        yield found


def look(instance: dg.DagsterInstance, name: str, at: datetime) -> None:
    """What a daemon of Dagster's leaves of a look at this time."""
    is_sensor, then = name == "new_input", at.timestamp()
    kind = InstigatorType.SENSOR if is_sensor else InstigatorType.SCHEDULE
    sensor = SensorInstigatorData(then, "key", 60, "seen", then, then, None, then)
    state = InstigatorState(
        RemoteInstigatorOrigin(origin_of("build").repository_origin, name),
        kind,
        InstigatorStatus.DECLARED_IN_CODE,
        sensor if is_sensor else ScheduleInstigatorData("30 5 * * *", then, then),
    )
    if instance.get_instigator_state(state.instigator_origin_id, state.selector_id) is None:
        instance.add_instigator_state(state)
    instance.update_instigator_state(state)
    tick = TickData(state.instigator_origin_id, name, kind, TickStatus.SKIPPED, then, selector_id=state.selector_id)
    instance.create_tick(tick)


def told(instance: dg.DagsterInstance) -> tuple[set[float], set[str | None], set[float]]:
    """The times and the cursors of all sensors and schedules, and the times of their ticks."""
    states = instance.all_instigator_state()
    times = {getattr(one.instigator_data, name, None) for one in states for name in TIMES} - {None}
    cursors = {getattr(one.instigator_data, "cursor", None) for one in states}
    ticks = chain.from_iterable(instance.get_ticks(one.instigator_origin_id, one.selector_id) for one in states)
    return times, cursors, {tick.timestamp for tick in ticks}  # type: ignore[return-value]


def test_what_was_noted_ahead_of_the_clock_is_as_if_it_were_now_and_nothing_else_changes(
    deployment: Settings, instance: dg.DagsterInstance
) -> None:
    # sensors looked at nothing, and schedules began nothing, until the clock came there again
    for at in WHENS:
        for name in ("new_input", "nightly"):
            look(instance, name, at)
    assert forget_ahead(deployment, NOW) == WHENS[1]
    assert told(instance) == ({NOW.timestamp()}, {"seen", None}, {WHENS[0].timestamp()})
    assert forget_ahead(deployment, NOW) is None


def test_books_of_a_clock_that_was_right_stay_as_they_are(deployment: Settings, instance: dg.DagsterInstance) -> None:
    look(instance, "new_input", WHENS[0])
    assert forget_ahead(deployment, NOW) is None
    assert told(instance) == ({WHENS[0].timestamp()}, {"seen"}, {WHENS[0].timestamp()})


def test_dagster_that_never_ran_noted_nothing(deployment: Settings) -> None:
    assert forget_ahead(deployment, NOW) is None
    assert not (deployment.dagster_home / "schedules").exists()
