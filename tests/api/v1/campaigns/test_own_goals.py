"""Outcomes of a profile's own goals in every answer that counts by type, from one hand-written day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from api import db
from api.models import GoalRow
from api.snapshot import snapshots
from tests.api.v1.campaigns.conftest import PROFILE, WINDOW, Caller, Deployment
from tests.factories.deployments import migrate
from touchledger.settings import Settings

OF = {"profile_key": 1, "day": "2026-03-01"}
FIGURES: list[dict[str, Any]] = [
    {"lead_created": 3, "payment_received": 1, "cash_minor": 500},
    {"custom_type": "deposit", "custom_cash": 2, "cash_minor": 1900},
    {"custom_type": "gift_sent", "custom_gross": 1},
    {"custom_type": "trial_started", "custom_pipeline": 4},
]
OUTCOMES = {
    "outcome_count": 3,
    "outcome_value": 24.0,
    "attributed_outcome_count": 11,
    "attributed_outcomes_by_type": {
        **{"lead_created": 3, "payment_received": 1},
        **{"deposit": 2, "gift_sent": 1, "trial_started": 4},
    },
}
PROFILE_ROW = {"profile_id": PROFILE, "profile_key": 1, "currency": "USD", "currency_digits": 2, "time_zone": "UTC"}


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    settings = Settings(home=tmp_path_factory.mktemp("own"))
    migrate(settings)
    deployment = Deployment(settings)
    levels = [
        {**OF, "level": level, "entity_key": key, "model": "last_touch"} for level, key in (("campaign", 1), ("ad", 2))
    ]
    of_days = [{**OF, **figures} for figures in FIGURES]
    unattributed = {**OF, "level": "campaign", "model": "last_touch"}
    deployment.publish(
        {
            "profiles": [PROFILE_ROW],
            "entities": [
                {"profile_key": 1, "level": "campaign", "entity_key": 1, "entity_id": "one", "platform_id": "c1"},
                {"profile_key": 1, "level": "ad", "entity_key": 2, "entity_id": "two", "platform_id": "a1"},
            ],
            "credit_daily": [{**level, **figures} for level in levels for figures in FIGURES],
            "unattributed_daily": [
                *({**unattributed, "reason": "direct", **figures} for figures in FIGURES),
                {**unattributed, "reason": "no_touch", "custom_type": "deposit", "custom_cash": 1},
                # the part on another channel of what a campaign has the rest of, and is counted for
                {**unattributed, "reason": "other_channel", "custom_type": "membership", "cash_minor": 300},
            ],
            "outcomes_daily": of_days,
            "declared_sources": [
                {**OF, "answer_key": "friend", "answers": 2, "conversions": 3, "cash_minor": 1900},
                {**OF, "answer_key": "other", "answers": 1, "conversions": 0, "cash_minor": 0},
                {**OF, "answer_key": "von einem Freund", "answers": 4, "conversions": 1, "cash_minor": 100},
            ],
        }
    )
    with db.transaction(settings.operational_url) as session:
        goal = GoalRow(id=db.new_id(), profile_id=PROFILE, conversion_key="deposit", display_name="Deposit")
        goal.source_event_names, goal.revenue_type, goal.attribution_eligible = ["deposit"], "cash", True
        session.add(goal)
    yield deployment.new_caller()
    snapshots(settings).close()


def test_campaigns_and_ads_tell_own_goals_by_name(caller: Caller) -> None:
    (campaign,) = caller.data("/campaigns", level="campaign")
    assert {name: campaign[name] for name in OUTCOMES} == OUTCOMES
    assert campaign["cac"] == 0.0
    ad = caller.data("/ads/a1")
    assert {name: ad[name] for name in OUTCOMES} == OUTCOMES


def test_the_remainder_tells_them_in_its_sums(caller: Caller) -> None:
    told = caller.data("/campaigns/unattributed")
    by_reason = {row["reason"]: row["attributed_outcome_count"] for row in told["by_reason"]}
    assert (by_reason["direct"], by_reason["no_touch"], by_reason["unknown_ad"]) == (11, 1, 0)
    assert told["attributed_outcomes_by_type"] == {**OUTCOMES["attributed_outcomes_by_type"], "deposit": 3}
    assert (told["outcome_count"], told["outcome_value"], told["attributed_outcome_count"]) == (4, 27.0, 12)
    assert told["profile_total"] == OUTCOMES


def test_conversions_are_counted_under_them(caller: Caller) -> None:
    rows = [tuple(row.values()) for row in caller.data("/conversions")]
    assert rows == [
        ("trial_started", 4, 0.0, "pipeline"),
        ("lead_created", 3, 0.0, "pipeline"),
        ("deposit", 2, 19.0, "cash"),
        ("gift_sent", 1, 0.0, "gross"),
        ("payment_received", 1, 5.0, "cash"),
    ]
    days = caller.data("/conversions/timeseries")
    assert [(row["event_type"], row["count"]) for row in days if row["date"] == "2026-03-01"] == [
        *(("deposit", 2), ("gift_sent", 1), ("lead_created", 3), ("payment_received", 1), ("trial_started", 4)),
    ]


def test_a_list_is_narrowed_to_own_goals_and_a_misspelt_one_is_refused(caller: Caller) -> None:
    assert caller.data("/conversions/list", type="deposit") == []
    status, code, message = caller.refusal("/conversions/list", **WINDOW, type="deposits")
    assert (status, code) == (400, "invalid_parameter")
    assert "deposit" in message
    assert caller.refusal("/conversions/list", **WINDOW, type="Deposit")[:2] == (400, "invalid_parameter")


def test_declared_sources_are_told_in_two_languages_and_kept_apart_from_credit(caller: Caller) -> None:
    rows = caller.data("/declared-sources")
    assert rows[0] == {
        "answer_key": "other",
        "label_en": "Something else",
        "label_es": "Otra respuesta",
        "answers": 5,
        "conversions": 1,
        "cash_revenue": 1.0,
    }
    assert [(row["answer_key"], row["cash_revenue"]) for row in rows[1:]] == [("friend", 19.0)]
    response = caller.get("/declared-sources", **WINDOW)
    again = caller.get("/declared-sources", headers={"If-None-Match": response.headers["ETag"]}, **WINDOW)
    assert (response.headers["Cache-Control"], again.status_code) == ("private, no-cache", 304)
