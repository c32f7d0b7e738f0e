"""The state table of changes at an ad platform, case by case and without a platform."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from api import errors
from api.platform_rules import Bounds, Verb, Wanted, bounds, changes_something
from connectors.ad_platform import Level, LiveState

ACTIVE = LiveState("campaign", "1", "2", "n", "ACTIVE", "ACTIVE", (), "USD", 1000, None)
CODES = {"pause": "campaign_not_pausable", "resume": "campaign_not_resumable", "budget": "campaign_not_editable"}


def refused(wanted: Wanted, state: LiveState, synced_status: str | None = None) -> str:
    with pytest.raises(errors.ApiError) as caught:
        changes_something(wanted, state, synced_status)
    return caught.value.code.code


@pytest.mark.parametrize("verb", get_args(Verb))
@pytest.mark.parametrize(
    "final",
    [
        {"status": "ARCHIVED"}, {"status": "DELETED"}, {"effective_status": "ARCHIVED"},
        {"campaign_statuses": ("ACTIVE", "DELETED")}, {"campaign_statuses": ("ARCHIVED", None)},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_final_or_under_a_final_campaign_is_refused(verb: Verb, final: dict[str, Any]) -> None:
    assert refused(Wanted(verb, "campaign", "1", amount_minor=1000), replace(ACTIVE, **final)) == CODES[verb]


@pytest.mark.parametrize("level", get_args(Level))
def test_every_level_has_a_code_for_what_is_final(level: Level) -> None:
    gone = replace(ACTIVE, level=level, status="DELETED")
    assert refused(Wanted("pause", level, "1"), gone) == "campaign_not_pausable"
    assert refused(Wanted("resume", level, "1"), gone) == "campaign_not_resumable"


@pytest.mark.parametrize(
    ("verb", "level", "named"),
    [
        ("pause", "ad", "The ad, "), ("resume", "ad", "The ad, "), ("budget", "ad_set", "The ad set, "),
    ],
)  # fmt: skip
def test_a_refusal_below_a_campaign_does_not_speak_of_a_campaign_that_may_be_active(
    verb: Verb, level: Level, named: str
) -> None:
    gone = replace(ACTIVE, level=level, status="ARCHIVED", campaign_statuses=("ACTIVE",))
    with pytest.raises(errors.ApiError) as caught:
        changes_something(Wanted(verb, level, "1", amount_minor=1000), gone)
    assert caught.value.message.startswith(named)
    assert "archived or deleted campaign" not in caught.value.message


def test_the_status_last_synced_decides_only_where_the_platform_tells_none() -> None:
    silent = replace(ACTIVE, status=None, effective_status=None)
    assert refused(Wanted("pause", "campaign", "1"), silent, "ARCHIVED") == "campaign_not_pausable"
    assert refused(Wanted("pause", "campaign", "1"), silent) == "provider_error"
    assert changes_something(Wanted("pause", "campaign", "1"), silent, "ACTIVE")
    assert changes_something(Wanted("pause", "campaign", "1"), ACTIVE, "ARCHIVED")
    assert not changes_something(Wanted("resume", "campaign", "1"), ACTIVE, "PAUSED")


def test_a_budget_moves_in_the_steps_that_the_platform_counts_in() -> None:
    forint = replace(ACTIVE, currency="HUF", daily_budget_minor=100_000, budget_step_minor=100)
    assert refused(Wanted("budget", "campaign", "1", amount_minor=100_050), forint) == "validation_error"
    assert changes_something(Wanted("budget", "campaign", "1", amount_minor=100_100), forint)


@pytest.mark.parametrize(
    ("live", "least", "most"), [(1000, 500, 1500), (101, 100, 151), (99, 100, 148), (67, 100, 100), (66, 100, 99)]
)
def test_bounds_are_half_of_the_live_budget_and_the_floor(live: int, least: int, most: int) -> None:
    assert bounds(live) == Bounds(least, most)


def test_a_budget_that_is_only_to_rise_stays_where_it_is_as_large_already() -> None:
    def moves(live: int | None, amount: int = 1200) -> bool:
        state = replace(ACTIVE, daily_budget_minor=live)
        return changes_something(Wanted("budget", "campaign", "1", amount_minor=amount, only_up=True), state)

    assert [moves(1000), moves(1199), moves(1200), moves(5000)] == [True, True, False, False]
    assert changes_something(Wanted("budget", "campaign", "1", amount_minor=900), ACTIVE), "else it may fall"
    with pytest.raises(errors.ApiError):
        moves(None)
    with pytest.raises(errors.ApiError):
        moves(1000, 1600)
