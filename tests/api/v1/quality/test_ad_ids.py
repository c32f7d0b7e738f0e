"""GET /quality/ad-ids over HTTP: the golden answers, what is refused, and a profile without clicks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.v1.campaigns.conftest import Caller, Deployment
from tests.api.v1.quality.conftest import GOLDEN, PATH, WINDOW

ANSWERS: dict[str, dict[str, Any]] = {
    "every_platform": {},
    "limit_2": {"limit": "2"},
    "google": {"platform": "google"},
    "nobody": {"platform": "google", "date_from": "2020-03-01", "date_to": "2020-03-10"},
}
BAD_VALUES = [
    *(("platform", value) for value in ("", "Meta", "a", "meta ads", "meta,google", "m" * 33, "meta\n")),
    *(("limit", value) for value in ("0", "1001", "-1", "", "5.0")),
    ("cursor", "x"),
]


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_one_computed_by_hand(caller: Caller, name: str) -> None:
    answer = caller.get(PATH, **{**WINDOW, **ANSWERS[name]})
    assert answer.status_code == 200, answer.text
    assert answer.json["data"] == json.loads((GOLDEN / "answers" / f"{name}.json").read_text())


def test_a_platform_that_nothing_came_from_is_refused_with_those_that_are_known(caller: Caller) -> None:
    # zeros would say that all of its clicks name their ad
    status, code, message = caller.refusal(PATH, **WINDOW, platform="facebook")
    assert (status, code) == (400, "invalid_parameter")
    assert message == "platform: no paid click came from it; must be one of google, meta, tiktok"


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_a_bad_value_is_invalid_parameter_and_named(caller: Caller, name: str, value: str) -> None:
    status, code, message = caller.refusal(PATH, **WINDOW, **{name: value})
    assert (status, code) == (400, "invalid_parameter")
    assert name in message


def test_the_window_is_required_and_at_most_366_days_long(caller: Caller) -> None:
    assert caller.refusal(PATH)[:2] == (400, "invalid_date_range")
    assert caller.refusal(PATH, date_from="2025-03-01", date_to="2026-03-03")[:2] == (400, "invalid_date_range")


def test_before_anything_is_published_there_is_nothing(unpublished: Deployment) -> None:
    answer = unpublished.new_caller().get(PATH, **WINDOW)
    assert answer.status_code == 200
    assert answer.json["data"] == json.loads((GOLDEN / "answers" / "nobody.json").read_text())
    assert answer.json["meta"]["snapshot_id"] is None


def test_meta_tells_the_window_and_the_currency(caller: Caller) -> None:
    meta = caller.get(PATH, **WINDOW).json["meta"]
    assert {name: meta[name] for name in WINDOW} == WINDOW
    assert meta["currency"] == "USD"
