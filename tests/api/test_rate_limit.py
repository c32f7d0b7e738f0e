"""The request allowance: an exact moving window, whatever number of processes share it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from api import db, rate_limit, sign_in, utm_scans
from api.creative_analysis import ordering
from api.models import RateUse
from api.rate_limit import LONGEST_WINDOW, SECOND, WINDOW, Allowance, Locked, Uses, charge, forget_unused, settle
from api.v1.members import invitations
from api.v1.profiles import creation
from api.worker import chores
from tests.api.conftest import Caller
from tests.factories import crowd
from tests.fixtures.processes import pool
from touchledger.settings import Settings

Request = tuple[int, int]


def test_four_processes_let_exactly_sixty_through(database_url: str) -> None:
    with pool(4) as four:
        answers = [one for many in four.starmap(crowd.charge_many, [(database_url, 60)] * 4) for one in many]
    accepted = [remaining for passed, remaining in answers if passed]
    assert sorted(accepted) == list(range(60))
    assert {remaining for passed, remaining in answers if not passed} == {0}


def test_a_bucket_is_its_own(database_url: str) -> None:
    with db.transaction(database_url) as session:
        for _ in range(3):
            charge(session, "key:a", units=1, limit=3, moment=0)
        assert charge(session, "key:a", units=1, limit=3, moment=0).retry_after == 60
        assert charge(session, "key:b", units=1, limit=3, moment=0) == Allowance(3, 2)


def test_a_refusal_leaves_the_bucket_as_it_was(database_url: str) -> None:
    with db.transaction(database_url) as session:
        charge(session, "key:a", units=2, limit=3, moment=5)
    for _ in range(5):
        with db.transaction(database_url) as session:
            assert charge(session, "key:a", units=2, limit=3, moment=6) == Allowance(3, 1, 60)
    with db.transaction(database_url) as session:
        stored = session.get(RateUse, "key:a")
        assert stored is not None
        assert stored.uses == [[5, 2]]


def test_a_request_that_waited_for_its_bucket_counts_from_when_it_had_it(database_url: str) -> None:
    with db.transaction(database_url) as session:
        charge(session, "key:a", units=1, limit=3)
    begun = threading.Event()

    def wait() -> None:
        begun.set()
        with db.transaction(database_url) as session:
            charge(session, "key:a", units=1, limit=3)

    waiting = threading.Thread(target=wait)
    with db.transaction(database_url) as session:
        charge(session, "key:a", units=0, limit=3)
        waiting.start()
        assert begun.wait(60)
        time.sleep(0.3)
        released = time.time_ns() // 1000
    waiting.join(60)
    with db.transaction(database_url) as session:
        assert session.get_one(RateUse, "key:a").uses[-1][0] >= released


def test_free_requests_neither_cost_nor_write(database_url: str) -> None:
    with db.transaction(database_url) as session:
        assert charge(session, "key:a", units=0, limit=3, moment=5) == Allowance(3, 3)
        stored = session.get(RateUse, "key:a")
        assert stored is not None
        assert stored.uses == []


def test_retry_after_is_when_enough_units_have_aged_out() -> None:
    uses = [(0, 30), (10 * SECOND, 29), (20 * SECOND, 1)]
    assert settle(uses, 30 * SECOND, units=1, limit=60)[1].retry_after == 30
    assert settle(uses, 30 * SECOND, units=30, limit=60)[1].retry_after == 30
    assert settle(uses, 30 * SECOND, units=31, limit=60)[1].retry_after == 40
    assert settle(uses, 30 * SECOND + 1, units=1, limit=60)[1].retry_after == 30
    assert settle(uses, 60 * SECOND - 1, units=1, limit=60)[1].retry_after == 1


def test_a_clock_that_steps_back_opens_no_second_window() -> None:
    uses, _ = settle([], 100 * SECOND, units=60, limit=60)
    kept, allowance = settle(uses, 0, units=1, limit=60)
    assert allowance.retry_after == 60
    assert kept == uses


def test_a_clock_that_was_a_year_ahead_locks_nobody_out_once_it_is_right() -> None:
    # a key that was used meanwhile answered 429 until the year was over
    year = 365 * 24 * LONGEST_WINDOW
    uses, _ = settle([(1, 20)], year, units=60, limit=60)
    kept, allowance = settle(uses, 2 * SECOND, units=60, limit=60)
    assert (kept, allowance.retry_after) == ([(2 * SECOND, 60)], None)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, SECOND), st.integers(1, 3)), max_size=60), st.integers(1, 40 * SECOND))
def test_a_coarse_grain_keeps_few_numbers_and_lets_no_window_hold_more(steps: list[Request], grain: int) -> None:
    limit, window, moment = 10, 10 * SECOND, 0
    uses: Uses = []
    accepted: list[Request] = []
    for step, units in steps:
        moment += step
        uses, allowance = settle(uses, moment, units=units, limit=limit, window=window, grain=grain)
        if allowance.retry_after is None:
            accepted.append((moment, units))
        else:
            # units come free up to one grain later than they would by themselves, and no later
            assert sum(spent for at, spent in accepted if moment - at < window + grain) + units > limit
        assert len(uses) <= window // grain + 2
    for start, _ in accepted:
        assert sum(units for at, units in accepted if start <= at < start + window) <= limit


def test_buckets_locked_together_are_charged_as_each_alone(database_url: str) -> None:
    with db.transaction(database_url) as session:
        charge(session, "key:a", units=2, limit=3)
    with db.transaction(database_url) as session:
        locked = Locked(session, ["key:b", "key:a"])
        assert [locked.charge("key:a", limit=3).retry_after is None for _ in range(2)] == [True, False]
        assert locked.charge("key:b", limit=3).remaining == 2
        locked.write()
    with db.transaction(database_url) as session:
        assert [charge(session, f"key:{one}", units=0, limit=3).remaining for one in "ab"] == [0, 2]


def test_buckets_that_nobody_uses_are_forgotten(database_url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "PAGE", rate_limit.PAGE.limit(2))
    monkeypatch.setattr(rate_limit, "_now", lambda _: 2 * LONGEST_WINDOW)
    with db.transaction(database_url) as session:
        for number, moment in enumerate((0, LONGEST_WINDOW - 1, LONGEST_WINDOW, 2 * LONGEST_WINDOW, 0)):
            charge(session, f"from:{number}", units=1, limit=3, moment=moment)
        charge(session, "from:4", units=1, limit=3, moment=LONGEST_WINDOW + 1)
        charge(session, "from:5", units=0, limit=3, moment=0)
        charge(session, "from:6", units=1, limit=3, moment=3 * LONGEST_WINDOW + 1)
    deployment = Settings(home=home, database_url=SecretStr(database_url))
    assert forget_unused(deployment) == 4
    with db.transaction(database_url) as session:
        left = session.scalars(sa.select(RateUse.bucket).order_by(RateUse.bucket)).all()
    assert left == ["from:2", "from:3", "from:4"]
    assert [one.every for one in chores(deployment) if one.do is forget_unused] == [3600.0]


def test_a_bucket_forgotten_before_it_is_locked_is_made_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as if it had been there when the names were read, and was forgotten before the rows were
    monkeypatch.setattr(Locked, "_known", lambda _, names: set(names))
    with db.transaction(database_url) as session:
        assert Locked(session, ["from:1", "from:2"]).charge("from:2", limit=3).remaining == 2


def test_no_allowance_has_a_longer_window_than_is_kept() -> None:
    buckets = (creation.HOURLY, invitations.HOURLY, utm_scans.SCANS, utm_scans.CACHED, ordering.CALLS)
    hourly = [one.window for one in buckets]
    tries = [one.window for one in (sign_in.SIGN_IN, sign_in.SIGN_UP, sign_in.RESET)]
    assert max(WINDOW, *hourly, *tries) == LONGEST_WINDOW


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 20 * SECOND), st.integers(1, 3)), max_size=60))
def test_no_window_ever_holds_more_than_the_limit(steps: list[Request]) -> None:
    limit, moment = 10, 0
    uses: Uses = []
    accepted: list[Request] = []
    for step, units in steps:
        moment += step
        uses, allowance = settle(uses, moment, units=units, limit=limit)
        if allowance.retry_after is None:
            accepted.append((moment, units))
        else:
            assert sum(spent for at, spent in accepted if moment - at < WINDOW) + units > limit
            later = moment + allowance.retry_after * SECOND
            assert settle(uses, later, units=units, limit=limit)[1].retry_after is None
            earlier = later - SECOND
            assert earlier <= moment or settle(uses, earlier, units=units, limit=limit)[1].retry_after is not None
    for start, _ in accepted:
        assert sum(units for at, units in accepted if start <= at < start + WINDOW) <= limit


def test_the_headers_count_down_and_the_refusal_says_when(caller: Caller) -> None:
    for left in (57, 54):
        response = caller.get("/notes/costly")
        assert response.headers["X-RateLimit-Limit"] == "60"
        assert response.headers["X-RateLimit-Remaining"] == str(left)
    for _ in range(18):
        assert caller.get("/notes/costly").status_code == 200
    refused = caller.get("/notes")
    error = refused.get_json()["error"]
    assert (refused.status_code, error["code"], error["reason"]) == (429, "rate_limit_exceeded", "request_rate")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["X-RateLimit-Remaining"] == "0"


def test_every_key_has_its_own_allowance(caller: Caller, caller_with: Callable[..., Caller]) -> None:
    assert caller.get("/notes").headers["X-RateLimit-Remaining"] == "59"
    assert caller_with().get("/notes").headers["X-RateLimit-Remaining"] == "59"
