"""GET W/pacing: a month's spend against budget, computed by hand, and the figures of GET /campaigns beside it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine

from api import db
from api.models import Profile
from api.roles import Role
from tests.api.v1.workspaces.conftest import Ask, data, refusal
from tests.factories import accounts, served
from touchledger.settings import Settings

THROUGH = date(2026, 3, 10)
ENTITY = "00000000-0000-8000-8000-000000000001"


def days(key: int, spend: int, until: date, count: int) -> list[dict[str, Any]]:
    """Spend of `count` days, the last of them `until`."""
    one = {"profile_key": key, "level": "campaign", "entity_key": key, "impressions": 1}
    return [{**one, "day": until - timedelta(days=n), "spend_minor": spend} for n in range(count)]


def facts(key: int, profile: Profile, currency: str = "USD", through: date | None = THROUGH) -> dict[str, Any]:
    return {
        "profile_key": key, "profile_id": profile.id, "time_zone": "UTC", "currency": currency,
        "currency_digits": 2, "settings_version": "v", "delivery_through": through,
    }  # fmt: skip


@pytest.fixture
def second(url: str, profile: Profile) -> Profile:
    with db.transaction(url) as session:
        made = Profile(workspace_id=profile.workspace_id, name="Two", timezone="UTC", reporting_currency="USD")
        session.add(made)
    return made


def budget(url: str, profile: Profile, amount: str | None, **more: Any) -> None:
    with db.transaction(url) as session:
        kept = session.get_one(Profile, profile.id)
        kept.monthly_budget = Decimal(amount) if amount else None
        for name, value in more.items():
            setattr(kept, name, value)


@pytest.fixture
def tables(profile: Profile, second: Profile) -> dict[str, Any]:
    """Ten days of March at 31.00 a day after a dearer February; one day that is not complete; three payments."""
    credit = {"profile_key": 1, "model": "last_touch", "level": "campaign", "entity_key": 1}
    return {
        "profiles": [facts(1, profile), facts(2, second)],
        "entities": [
            {"profile_key": key, "level": "campaign", "entity_key": key, "entity_id": f"{ENTITY[:-1]}{key}"}
            for key in (1, 2)
        ],
        "delivery_daily": [
            *days(1, 3100, THROUGH, 10),
            *days(1, 9900, date(2026, 2, 28), 28),
            *days(1, 100, THROUGH + timedelta(days=1), 1),
            *days(2, 1000, THROUGH, 1),
        ],
        "credit_daily": [
            {**credit, "day": date(2026, 3, 2), "payment_received": 2, "lead_created": 1, "cash_minor": 62000},
            {**credit, "day": THROUGH, "payment_received": 1, "cash_minor": 1},
            {**credit, "day": THROUGH + timedelta(days=1), "payment_received": 5, "cash_minor": 5},
            {**credit, "day": THROUGH, "model": "first_touch", "payment_received": 9, "cash_minor": 9},
            {**credit, "day": THROUGH, "level": "ad", "payment_received": 9, "cash_minor": 9},
        ],
    }


def row(answer: Any, name: str = "Shop") -> dict[str, Any]:
    (found,) = (one for one in data(answer)["profiles"] if one["profile_name"] == name)
    return dict(found)


def test_a_month_is_told_through_its_last_whole_day(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, session: str, tables: dict[str, Any]
) -> None:
    snapshot_id = served.publish(settings.published, tables)
    budget(url, profile, "1000", outcome_target=40)
    answer = ask("GET", f"{w}/pacing?month=2026-03", session)
    assert row(answer) == {
        "profile_id": profile.id,
        "profile_name": "Shop",
        "currency": "USD",
        "timezone": "UTC",
        "month": "2026-03",
        "days_in_month": 31,
        "days_elapsed": 10,
        "delivery_through": "2026-03-10",
        "budget": 1000.0,
        "spend_mtd": 310.0,
        # 1000 x 10/31
        "expected_spend": 322.58,
        # 310 / 322.580645...
        "pace": 0.961,
        # 310 and 21 days of 31
        "projected_spend": 961.0,
        "status": "on_track",
        "cash_outcomes_mtd": 3,
        "outcomes_mtd": 4,
        "revenue_mtd": 620.01,
        "roas": 2.00003226,
        "outcome_target": 40,
    }
    meta = answer.get_json()["meta"]
    assert (meta["workspace_id"], meta["snapshot_id"]) == (profile.workspace_id, snapshot_id)
    assert (meta["currency"], meta["model"]) == ("USD", "last_touch")


def test_before_its_first_full_day_of_delivery_a_profile_has_spent_nothing_and_is_on_track(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, session: str, tables: dict[str, Any]
) -> None:
    running = {"profiles": [facts(1, profile, through=None)], "delivery_daily": days(1, 100, THROUGH, 1)}
    served.publish(settings.published, {**tables, **running})
    budget(url, profile, "1000")
    told = row(ask("GET", f"{w}/pacing?month=2026-03", session))
    assert (told["spend_mtd"], told["expected_spend"], told["status"], told["days_elapsed"]) == (0, 0, "on_track", 0)
    assert (told["revenue_mtd"], told["pace"], told["projected_spend"]) == (620.06, None, None)


def test_the_figures_are_those_of_the_campaigns_of_these_days(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, session: str, tables: dict[str, Any]
) -> None:
    served.publish(settings.published, tables)
    window = "date_from=2026-03-01&date_to=2026-03-10"
    (campaign,) = data(ask("GET", f"/campaigns?{window}&profile_id={profile.id}", session))
    told = row(ask("GET", f"{w}/pacing?month=2026-03", session))
    assert [told[name] for name in ("spend_mtd", "cash_outcomes_mtd", "outcomes_mtd", "revenue_mtd", "roas")] == [
        campaign[name]
        for name in ("spend", "outcome_count", "attributed_outcome_count", "outcome_value", "roas")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("amount", "status", "pace"),
    [
        # of 961.00 ten days are exactly 310.00, so the pace is 961 / budget
        ("961", "on_track", 1.0),
        ("1067.77", "on_track", 0.90000656),
        ("1067.81", "under", 0.89997284),
        ("873.64", "on_track", 1.09999542),
        ("873.63", "over", 1.10000801),
        ("0", "over", None),
        (None, "no_budget", None),
    ],
)
def test_spend_is_under_on_track_or_over_by_a_tenth(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, session: str, tables: dict[str, Any],
    amount: str | None, status: str, pace: float | None,
) -> None:  # fmt: skip
    served.publish(settings.published, tables)
    budget(url, profile, amount)
    told = row(ask("GET", f"{w}/pacing?month=2026-03", session))
    assert (told["status"], told["pace"]) == (status, pace)


def test_a_month_that_is_over_or_has_not_begun_is_told_as_such(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, session: str, tables: dict[str, Any]
) -> None:
    served.publish(settings.published, tables)
    budget(url, profile, "2772")
    past = row(ask("GET", f"{w}/pacing?month=2026-02", session))
    assert (past["days_elapsed"], past["spend_mtd"], past["projected_spend"]) == (28, 2772.0, 2772.0)
    assert (past["pace"], past["status"]) == (1.0, "on_track")
    ahead = row(ask("GET", f"{w}/pacing?month=2026-04", session))
    assert (ahead["days_elapsed"], ahead["spend_mtd"], ahead["projected_spend"]) == (0, 0.0, 930.0)
    assert (ahead["expected_spend"], ahead["pace"], ahead["status"]) == (0.0, None, "on_track")


def test_totals_add_up_what_is_in_the_workspaces_currency(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, second: Profile, session: str,
    tables: dict[str, Any],
) -> None:  # fmt: skip
    served.publish(settings.published, tables)
    budget(url, profile, "1000")
    assert data(ask("GET", f"{w}/pacing?month=2026-03", session))["totals"] == {
        "budget": 1000.0,
        "spend_mtd": 320.0,
        "cash_outcomes_mtd": 3,
        "revenue_mtd": 620.01,
        "roas": 1.93753125,
        "reason": None,
    }
    only = data(ask("GET", f"{w}/pacing?month=2026-03&profile_ids={second.id}", session))
    assert [one["profile_name"] for one in only["profiles"]] == ["Two"]
    assert (only["totals"]["spend_mtd"], only["totals"]["budget"]) == (10.0, None)


def test_totals_are_converted_at_the_newest_rates_and_rounded_once(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, second: Profile, session: str,
    tables: dict[str, Any],
) -> None:  # fmt: skip
    rates = [{"base": "EUR", "quote": "USD", "rate": "1.2345", "rate_date": THROUGH}]
    euros = {**tables, "profiles": [facts(1, profile), facts(2, second, "EUR")], "fx_latest": rates}
    served.publish(settings.published, euros)
    budget(url, profile, "1000")
    budget(url, second, "100.02", reporting_currency="EUR")
    # 310 and 10 at 1.2345; 1000 and 100.02 at 1.2345 = 123.47469; 620.01 / 322.345
    assert data(ask("GET", f"{w}/pacing?month=2026-03", session))["totals"] == {
        "budget": 1123.47,
        "spend_mtd": 322.34,
        "cash_outcomes_mtd": 3,
        "revenue_mtd": 620.01,
        "roas": 1.92343607,
        "reason": None,
    }


def test_money_without_a_rate_is_not_added_up(
    ask: Ask, settings: Settings, w: str, profile: Profile, second: Profile, session: str, tables: dict[str, Any]
) -> None:
    served.publish(settings.published, {**tables, "profiles": [facts(1, profile), facts(2, second, "EUR")]})
    totals = data(ask("GET", f"{w}/pacing?month=2026-03", session))["totals"]
    assert totals == {
        **dict.fromkeys(("budget", "spend_mtd", "revenue_mtd", "roas")),
        "cash_outcomes_mtd": 3,
        "reason": "currencies_differ",
    }
    only = data(ask("GET", f"{w}/pacing?month=2026-03&profile_id={profile.id}", session))
    assert only["totals"]["spend_mtd"] == 310.0


def test_a_profile_without_any_money_needs_no_rate(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, second: Profile, session: str,
    tables: dict[str, Any],
) -> None:  # fmt: skip
    spent = [row for row in tables["delivery_daily"] if row["profile_key"] == 1]
    euros = {"profiles": [facts(1, profile), facts(2, second, "EUR", None)], "delivery_daily": spent}
    served.publish(settings.published, {**tables, **euros})
    path = f"{w}/pacing?month=2026-03"
    totals = data(ask("GET", path, session))["totals"]
    assert (totals["spend_mtd"], totals["budget"], totals["reason"]) == (310.0, None, None)
    budget(url, second, "0", reporting_currency="EUR")
    assert data(ask("GET", path, session))["totals"] == {**totals, "budget": 0.0}
    budget(url, second, "0.01")
    totals = data(ask("GET", path, session))["totals"]
    assert (totals["spend_mtd"], totals["reason"]) == (None, "currencies_differ")


def test_currency_and_zone_are_those_of_the_figures_and_another_budget_is_left_out_until_they_follow(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, session: str, tables: dict[str, Any]
) -> None:
    served.publish(settings.published, tables)
    budget(url, profile, "1000", reporting_currency="EUR", timezone="Asia/Tokyo")
    told = row(ask("GET", f"{w}/pacing?month=2026-03", session))
    assert [told[name] for name in ("currency", "timezone", "budget", "status")] == ["USD", "UTC", None, "no_budget"]


def test_people_pace_what_they_can_open_and_nothing_else(
    ask: Ask, settings: Settings, url: str, w: str, second: Profile, as_role: Callable[..., str],
    tables: dict[str, Any], session: str,
) -> None:  # fmt: skip
    served.publish(settings.published, tables)
    guest = as_role(Role.GUEST)
    told = data(ask("GET", f"{w}/pacing?month=2026-03", guest))
    assert [one["profile_name"] for one in told["profiles"]] == ["Shop"]
    assert told["totals"]["spend_mtd"] == 310.0
    named = f"{w}/pacing?profile_ids={second.id}"
    assert refusal(ask("GET", named, guest)) == (404, "not_found", None)
    foreign = accounts.profile(url, name="Foreign")
    assert refusal(ask("GET", f"{w}/pacing?profile_ids={foreign.id}", session)) == (404, "not_found", None)


def test_before_the_first_snapshot_there_are_budgets_and_no_figures(
    ask: Ask, url: str, w: str, profile: Profile, session: str
) -> None:
    budget(url, profile, "1000")
    with time_machine.travel("2026-03-11T12:00:00Z", tick=False):
        answer = ask("GET", f"{w}/pacing", session)
    told = row(answer)
    assert (told["month"], told["budget"], told["spend_mtd"], told["days_elapsed"]) == ("2026-03", 1000.0, 0.0, 0)
    assert (told["projected_spend"], told["delivery_through"], told["roas"]) == (None, None, None)
    assert answer.get_json()["meta"]["snapshot_id"] is None


def test_a_known_answer_is_not_sent_again_until_a_budget_or_the_code_changes(
    ask: Ask, settings: Settings, url: str, w: str, profile: Profile, session: str, tables: dict[str, Any], upgrade: Any
) -> None:
    served.publish(settings.published, tables)
    path = f"{w}/pacing?month=2026-03"
    for change in (lambda: budget(url, profile, "5"), upgrade):
        known = {"If-None-Match": ask("GET", path, session).headers["ETag"]}
        assert ask("GET", path, session, headers=known).status_code == 304
        assert ask("GET", f"{w}/pacing?month=2026-02", session, headers=known).status_code == 200
        change()
        assert ask("GET", path, session, headers=known).status_code == 200


@pytest.mark.parametrize("query", ["month=2026-13", "month=March", "month=2026-3", "month=", "profile_ids=x"])
def test_a_month_that_is_none_is_refused(ask: Ask, w: str, session: str, query: str) -> None:
    assert refusal(ask("GET", f"{w}/pacing?{query}", session)) == (400, "invalid_parameter", None)
