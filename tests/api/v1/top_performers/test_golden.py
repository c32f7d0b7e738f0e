"""Served tables in, JSON out: the arithmetic is in tests/golden/top_performers/README.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.api.v1.campaigns.conftest import Caller
from tests.api.v1.top_performers.conftest import GOLDEN, Member


def answer(name: str) -> Any:
    return json.loads((GOLDEN / "answers" / f"{name}.json").read_text())


def test_a_profiles_leaderboard_is_the_one_computed_by_hand(caller: Caller) -> None:
    assert caller.get("/top-performers").get_json()["data"] == answer("profile")


def test_a_workspaces_leaderboard_is_the_one_computed_by_hand(member: Callable[..., Member]) -> None:
    assert member().data("/top-performers", limit=2) == answer("workspace")


def test_the_six_counters_are_those_counted_by_hand(member: Callable[..., Member]) -> None:
    assert member().data("/top-performers/brief") == answer("brief")


def test_the_score_of_an_ad_is_its_row_of_the_leaderboard(caller: Caller) -> None:
    score = caller.get("/ads/301").get_json()["data"]["score"]
    assert score == answer("ad_score")
    assert score == {name: value for name, value in answer("profile")[1].items() if name in score}
    assert list(answer("profile")[1])[8:] == list(score)
