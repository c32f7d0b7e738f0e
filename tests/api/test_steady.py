"""Promise: what a worker takes away for good because it is old, it does not take by a clock that has just leapt."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
import time_machine
from structlog.testing import capture_logs

from api import db, idempotency
from api.models import IdempotencyRecord
from api.steady import DOUBTED_SECONDS, LEAP, Clock
from api.worker import chores, work
from touchledger.settings import Settings

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
YEAR = timedelta(days=365)


class OneRound(threading.Event):
    """Set as soon as the worker would wait for its next round."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return True


def kept(settings: Settings) -> int:
    with db.transaction(settings.operational_url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(IdempotencyRecord)) or 0


def test_a_worker_forgets_nothing_by_a_clock_a_year_ahead_and_all_that_is_old_once_it_is_believed(
    settings: Settings,
) -> None:
    with time_machine.travel(START, tick=False):
        work(settings, OneRound())
        with db.transaction(settings.operational_url) as session:
            idempotency.claim(session, account="key:1", key="k", print_="p")
    with time_machine.travel(START + YEAR, tick=False), capture_logs() as told:
        work(settings, OneRound())
        work(settings, OneRound())
    assert kept(settings) == 1
    assert [one["last_believed"] for one in told if one["event"] == "clock_doubted"] == [START.isoformat()] * 2
    with time_machine.travel(START + timedelta(days=2), tick=False):
        work(settings, OneRound())
    assert kept(settings) == 0


def test_what_takes_away_for_good_what_is_over_waits_for_a_clock_that_is_believed(settings: Settings) -> None:
    assert {one.name for one in chores(settings) if one.is_final} == {
        "forget_answers",
        "forget_sessions",
        "forget_old_mail",
        "forget_chat_media",
        "forget_agents_tokens",
        "forget_store_deliveries",
        "forget_old_webhooks",
        "give_up_exports",
        "lapse_plans",
    }


def test_a_leap_is_believed_after_a_day_of_running_over_all_workers_that_ran(tmp_path: Path) -> None:
    path, later = tmp_path / "clock.json", START + YEAR
    assert Clock(path).is_believed(START, 5.0)
    half = DOUBTED_SECONDS / 2
    for _ in range(2):
        clock = Clock(path)
        assert not clock.is_believed(later, 100.0)
        assert not clock.is_believed(later, 100.0 + half - 1)
    last = Clock(path)
    assert not last.is_believed(later, 7.0)
    assert last.is_believed(later, 9.0)
    assert Clock(path).is_believed(later + LEAP, 0.0)


@pytest.mark.parametrize("moved", [LEAP, -YEAR, timedelta(seconds=1)])
def test_a_weekend_off_and_a_clock_set_back_are_believed(tmp_path: Path, moved: timedelta) -> None:
    path = tmp_path / "clock.json"
    assert Clock(path).is_believed(START, 0.0)
    assert Clock(path).is_believed(START + moved, 0.0)


def test_a_clock_set_right_is_believed_at_once(tmp_path: Path) -> None:
    clock = Clock(tmp_path / "clock.json")
    with capture_logs() as told:
        answers = [clock.is_believed(START + by, at) for at, by in enumerate([timedelta(0), YEAR, YEAR, timedelta(1)])]
    assert answers == [True, False, False, True]
    assert [one["event"] for one in told] == ["clock_doubted", "clock_believed"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"believed": 3, "doubted_seconds": 0}', '{"believed": "x"}'])
def test_a_file_that_nobody_can_read_is_written_anew(tmp_path: Path, text: str) -> None:
    path = tmp_path / "clock.json"
    path.write_text(text)
    assert Clock(path).is_believed(START, 0.0)
    assert not Clock(path).is_believed(START + YEAR, 0.0)
