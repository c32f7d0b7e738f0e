"""A provider that is down, and an account that does not answer, cost a run little; on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask, request

from api.db import now
from api.models import Connection, Profile
from orchestration.lake import Lake
from orchestration.silence import DOWN, FEW, RESTING, resting, was_silent
from orchestration.sync import sync_kind
from tests.factories import accounts, exports
from tests.fixtures.sandbox import served
from tests.orchestration.test_sync import DAYS, reload
from tests.orchestration.test_sync_turns import lake, settings, statuses, sync
from touchledger.settings import Settings

__all__ = ["lake", "settings"]
HOUR = timedelta(hours=1)


class Meta:
    """Meta where it has a fault for everybody but `well`, whom it refuses; `asked` are the accounts that asked it."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.well: set[str] = set()
        self.url = ""

    def answer(self) -> Any:
        account = request.path.split("act_")[1].split("/")[0]
        self.asked.add(account)
        # a wait that is too long ends a pull at once
        refused = {"error": {"code": 100}}, 400
        return refused if account in self.well else ({}, 503, {"Retry-After": "1000"})

    def account(self, settings: Settings, of: Profile, **more: Any) -> Connection:
        return exports.connection(settings.operational_url, of, base_url=self.url, **more)


@pytest.fixture
def meta() -> Iterator[Meta]:
    app, meta = Flask("meta"), Meta()
    app.before_request(meta.answer)
    with served(app) as address:
        meta.url = f"{address}/meta"
        yield meta


def pulled(settings: Settings, lake: Lake, **more: Any) -> dict[str, str]:
    """Why each connection was not pulled, by the account, of a round of ad platforms."""
    pulls = sync_kind(settings, lake, "ad_platform", DAYS, **more)
    return {pull.connection.external_account_id: pull.failure.reason for pull in pulls if pull.failure}


def test_of_a_provider_that_is_down_a_few_are_asked_and_the_rest_is_left_and_says_so(
    settings: Settings, lake: Lake, meta: Meta
) -> None:
    # each took five minutes, and 250 held every hourly run for its half hour
    profile = accounts.profile(settings.operational_url)
    made = [meta.account(settings, profile) for _ in range(4 * FEW)]
    # what the sandbox is asked is no word of the provider
    demo = meta.account(settings, profile, is_sandbox=True)
    meta.well.add(demo.external_account_id)
    failed = pulled(settings, lake)
    asked = meta.asked - meta.well
    assert (meta.asked >= meta.well, len(asked)) == (True, FEW + 1)
    left = {one.id for one in made if failed[one.external_account_id] == DOWN}
    assert len(left) == len(made) - len(asked)
    told = {one.id: reload(settings, one.id).status_reason for one in made}
    assert {one for one, reason in told.items() if reason == DOWN} == left
    assert left.isdisjoint(statuses(settings))
    # the next run has others find out
    pulled(settings, lake)
    assert len(meta.asked - meta.well - asked) == FEW
    # and once it answers, nobody is left
    meta.well |= {one.external_account_id for one in made}
    assert set(pulled(settings, lake).values()) == {"bad_parameter"}
    assert meta.asked == meta.well


def test_one_that_answers_has_all_others_asked_and_is_of_another_workspace(
    settings: Settings, lake: Lake, meta: Meta
) -> None:
    silent = [accounts.profile(settings.operational_url) for _ in range(FEW)]
    for profile in silent * 2:
        meta.account(settings, profile)
    shop = accounts.profile(settings.operational_url)
    meta.well |= {meta.account(settings, shop).external_account_id for _ in range(3)}
    assert DOWN not in pulled(settings, lake).values()
    assert len(meta.asked) == 2 * FEW + 3


def test_what_its_owner_has_to_do_is_told_though_its_provider_is_down(
    settings: Settings, lake: Lake, meta: Meta
) -> None:
    profile = accounts.profile(settings.operational_url)
    for _ in range(FEW + 1):
        meta.account(settings, profile)
    blocked = meta.account(settings, profile, status="needs_action", status_reason="policy_block")
    assert pulled(settings, lake)[blocked.external_account_id] == DOWN
    assert reload(settings, blocked.id).status_reason == "policy_block"


def silent(settings: Settings, pulls: int = 5, *, hours: float = 0.0, gets_on: bool = False) -> Connection:
    """An account of which so many pulls got no answer, the newest some hours ago and each an hour after another."""
    profile = accounts.profile(settings.operational_url)
    made = exports.connection(settings.operational_url, profile, status_reason="timeout")
    for number in range(pulls):
        ended = now() - HOUR * (hours + pulls - 1 - number)
        through = DAYS.first + timedelta(days=number if gets_on else 0)
        error = ("timeout", "connection", "transient")[number % 3]
        sync(settings, made, status="failed", error=error, finished_at=ended, delivery_through=through)
    return made


@pytest.mark.parametrize(
    ("pulls", "hours", "rests"),
    # of a clock that was set back, the newest pull may have yet to come
    [(2, 0.5, False), (3, 0.5, True), (3, 1.9, False), (4, 1.9, True), (9, 3.7, True), (9, 3.9, False), (9, -1, False)],
)
def test_an_account_that_was_silent_is_asked_less_and_less_often(
    settings: Settings, pulls: int, hours: float, rests: bool
) -> None:
    made = silent(settings, pulls, hours=hours)
    assert resting(settings, [made]) == ({made.id} if rests else set())


@pytest.mark.parametrize("newest", [{"status": "done"}, {"status": "failed", "error": "throttled"}])
def test_one_that_answered_does_not_rest(settings: Settings, newest: dict[str, Any]) -> None:
    made = silent(settings)
    sync(settings, made, **newest)
    assert resting(settings, [made]) == set()


def test_one_that_gets_on_with_each_pull_does_not_rest(settings: Settings) -> None:
    assert resting(settings, [silent(settings, gets_on=True)]) == set()


def test_an_account_that_rests_is_asked_at_once_when_somebody_asks_for_it(
    settings: Settings, lake: Lake, meta: Meta
) -> None:
    profile = accounts.profile(settings.operational_url)
    made = meta.account(settings, profile, status_reason="timeout")
    for _ in range(4):
        sync(settings, made, status="failed", error="timeout")
    assert pulled(settings, lake, leaves_silent=True) == {made.external_account_id: RESTING}
    assert (meta.asked, reload(settings, made.id).status_reason) == (set(), "timeout")
    sync(settings, made, status="queued", finished_at=None)
    assert pulled(settings, lake, leaves_silent=True) == {made.external_account_id: "throttled"}


def test_what_cannot_be_reached_is_silent_and_what_was_not_asked_is_not(settings: Settings, lake: Lake) -> None:
    profile = accounts.profile(settings.operational_url)
    for token in ("token", ""):
        exports.connection(settings.operational_url, profile, token=token)
    first, second = sync_kind(settings, lake, "ad_platform", DAYS)
    assert [was_silent(one) for one in (first, second)] == [True, None]
    assert first.failure is not None and first.failure.reason == "connection"
