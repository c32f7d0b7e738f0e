"""However a budget is walked, no step moves it by more than half or under the floor, and every attempt is audited."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from api import db, errors, platform_rules, platform_writes
from api.audit import Actor
from api.auth import Kind, Principal
from api.models import PlatformChange
from api.platform_rules import FLOOR_MINOR, Wanted
from api.reach import Reach
from connectors.ad_platform import BudgetType, LiveState
from connectors.meta_ads import MetaAds
from connectors.transport import Transport
from tests.factories.connected import Advertiser

SEED, STEPS, AT_ONCE = 20261120, 60, 12
FAULTS: list[dict[str, Any]] = [
    {"kind": "truncation", "method": "POST", "times": 2},
    {"kind": "truncation", "message": "announced", "method": "POST"},
    {"kind": "reset", "method": "POST", "times": None},
    {"kind": "reset", "after": 1, "times": None},
    {"kind": "throttled", "wait": 600},
    {"kind": "code", "code": "294", "method": "POST"},
]


def live(number: str, daily: int) -> LiveState:
    return LiveState("ad_set", number, "1", "n", "ACTIVE", "ACTIVE", (), "USD", daily, None)


@given(st.integers(1, 10**12), st.sampled_from([(1, 2), (1, 1), (3, 2), (1, 10), (5, 1)]), st.integers(-2, 2))
def test_a_step_that_is_let_through_is_at_most_half_of_what_is_live(
    before: int, times: tuple[int, int], beside: int
) -> None:
    asked = max(1, before * times[0] // times[1] + beside)
    try:
        moves = platform_rules.changes_something(Wanted("budget", "ad_set", "1", amount_minor=asked), live("1", before))
    except errors.ApiError as refusal:
        assert refusal.code is errors.BUDGET_CHANGE_OUT_OF_BOUNDS
        assert 2 * abs(asked - before) > before or asked < FLOOR_MINOR
    else:
        assert 2 * abs(asked - before) <= before and asked >= FLOOR_MINOR
        assert moves == (asked != before)


def ask(advertiser: Advertiser, number: str, amount: int, *, kind: BudgetType = "daily", dry_run: bool = False) -> Any:
    """The use case's answer, or the refusal it raised."""
    profile = advertiser.profile
    by = Principal(Kind.API_KEY, db.new_id(), "key", frozenset(), own_profile=profile, reach=Reach(profile=profile))
    try:
        return platform_writes.change(
            advertiser.settings,
            wanted=Wanted("budget", "ad_set", number, kind, amount),
            by=by,
            actor=Actor("api_key", by.id, profile.workspace_id, profile.id),
            dry_run=dry_run,
        )
    except errors.ApiError as refusal:
        return refusal


def shown(advertiser: Advertiser, number: str, kind: BudgetType) -> int:
    """The budget as the platform shows it, asked past everything that is under test."""
    connection = advertiser.connection
    with Transport() as transport:
        account = connection.external_account_id
        state = MetaAds(connection.base_url, connection.token, account, transport, currency="USD").state(
            "ad_set", number
        )
    assert state is not None
    return state.budget(kind) or 0


def test_a_random_walk_through_faults_never_takes_a_step_too_large_and_misses_no_audit(advertiser: Advertiser) -> None:
    chance, number, sandbox = random.Random(SEED), advertiser.one("ad_set"), advertiser.sandbox
    kind, ends = chance.choice(["daily", "lifetime"]), Counter[str]()
    sandbox.set(number, **{"daily_budget": "0", "lifetime_budget": "0", f"{kind}_budget": "9000"})
    before = 9000
    for _ in range(STEPS):
        if chance.random() < 0.1:
            # somebody changes it in the platform's own tool: the next step is measured from there
            before = chance.choice([99, 100, 150, 4000, 250_000])
            sandbox.set(number, **{f"{kind}_budget": str(before)})
        fault = chance.choice(FAULTS) if chance.random() < 0.2 else None
        sandbox.plan(*([{"route": rf"/{number}$", **fault}] if fault else []))
        amount = max(1, round(before * chance.choice([0.4, 0.5, 0.51, 0.9, 1, 1.3, 1.5, 1.501, 3])))
        dry_run = chance.random() < 0.15
        answer = ask(advertiser, number, amount, kind=kind, dry_run=dry_run)
        sandbox.plan()
        after = shown(advertiser, number, kind)
        moved = after != before
        assert 2 * abs(after - before) <= before
        assert not moved or (after == amount >= FLOOR_MINOR and not dry_run)
        if isinstance(answer, errors.ApiError):
            ends[answer.code.code] += 1
            assert not moved or answer.code is errors.PROVIDER_ERROR
        else:
            ends[answer["outcome"]] += 1
            assert moved == (answer["outcome"] == "changed")
        before = after
    assert {"changed", "no_change", "would_change", "budget_change_out_of_bounds", "provider_error"} <= set(ends)
    audited(advertiser, STEPS)


def test_steps_taken_at_once_are_taken_one_after_the_other(advertiser: Advertiser) -> None:
    number, sandbox = advertiser.one("ad_set"), advertiser.sandbox
    sandbox.set(number, daily_budget="9000")
    amounts = [13_500 if turn % 2 else 4_500 for turn in range(AT_ONCE)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(lambda amount: ask(advertiser, number, amount), amounts))
    done = {one["audit_id"]: one for one in answers if isinstance(one, dict) and one["outcome"] == "changed"}
    assert done
    stands = 9000
    for entry in advertiser.trail():
        if entry.id in done:
            step = done[entry.id]
            assert step["budget_before_minor"] == stands
            stands = step["budget_after_minor"]
    assert stands == shown(advertiser, number, "daily")
    turned_away = [one for one in answers if isinstance(one, errors.ApiError)]
    assert {one.code.code for one in turned_away} <= {"rate_limit_exceeded", "budget_change_out_of_bounds"}
    # those turned away before they began are recorded by the request that raises them
    begun = AT_ONCE - sum(1 for one in turned_away if one.attempt is not None)
    audited(advertiser, begun)


def audited(advertiser: Advertiser, attempts: int) -> None:
    """Every attempt has ended, and has one entry of its own in the trail."""
    with db.transaction(advertiser.settings.operational_url) as session:
        rows = list(session.scalars(sa.select(PlatformChange)))
    assert len(rows) == attempts and all(row.ended_at for row in rows)
    assert sorted(entry.id for entry in advertiser.trail()) == sorted(row.id for row in rows)
