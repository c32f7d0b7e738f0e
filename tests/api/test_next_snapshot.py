"""By when what came in is seen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import time_machine

from api import db
from api.models import Run
from api.next_snapshot import UNMEASURED, expected_at
from touchledger.settings import Settings

NOW = datetime(2026, 11, 20, 12, 0, 0, 400_000, tzinfo=UTC)
LOOK = timedelta(seconds=61)


def expected(settings: Settings) -> timedelta:
    with time_machine.travel(NOW, tick=False), db.transaction(settings.operational_url) as session:
        return expected_at(session) - NOW.replace(microsecond=0)


def build(settings: Settings, began: timedelta, lasted: timedelta | None) -> None:
    with db.transaction(settings.operational_url) as session:
        at = NOW - began
        session.add(Run(started_at=at, published_at=at + lasted if lasted else None))


def test_before_the_first_build_a_bound_is_supposed(settings: Settings) -> None:
    assert expected(settings) == LOOK + UNMEASURED


def test_it_is_one_look_and_the_longest_of_the_last_builds(settings: Settings) -> None:
    for hours, seconds in ((9, 4000), (8, 30), (7, 90), (6, 20), (5, 20), (4, 20)):
        build(settings, timedelta(hours=hours), timedelta(seconds=seconds))
    assert expected(settings) == LOOK + timedelta(seconds=90)


def test_what_comes_in_during_a_build_waits_for_the_next(settings: Settings) -> None:
    build(settings, timedelta(hours=1), timedelta(seconds=90))
    build(settings, timedelta(seconds=10), None)
    assert expected(settings) == LOOK + 2 * timedelta(seconds=90)


def test_a_build_that_never_ended_is_not_waited_for(settings: Settings) -> None:
    build(settings, timedelta(days=1), timedelta(seconds=90))
    build(settings, timedelta(hours=5), None)
    assert expected(settings) == LOOK + timedelta(seconds=90)
