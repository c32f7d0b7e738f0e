"""GET /attribution/ad-people over HTTP: the golden answers, what is refused, and a profile nobody was counted for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.v1.attribution.conftest import GOLDEN, PATH, WINDOW
from tests.api.v1.campaigns.conftest import OTHER, UNBUILT, Caller, Deployment

ANSWERS: dict[str, dict[str, Any]] = {
    "month": {},
    "month_web": {"group_by": "month", "channel": "web"},
    "month_first_only": {"first_only": "true", "limit": "1"},
    "month_first_only_social": {"first_only": "true", "channel": "social"},
    "day": {"group_by": "day", "date_from": "2026-02-27", "date_to": "2026-03-03"},
    "ad": {"group_by": "ad", "first_only": "false"},
    "ad_limit_1": {"group_by": "ad", "limit": "1"},
    "ad_first_only": {"group_by": "ad", "first_only": "true", "limit": "1000"},
}
BAD_VALUES = [
    *(("group_by", value) for value in ("", "week", "Month", "month,day", "ads")),
    *(("channel", value) for value in ("", "Web", "email", "all", "web,other")),
    *(("first_only", value) for value in ("", "1", "True", "TRUE", "yes", "false ", "0")),
    *(("limit", value) for value in ("0", "1001", "-1", "", "5.0", "+5", "٥", "ten")),
]
BAD_WINDOWS: list[dict[str, str]] = [
    {},
    {"date_from": "2026-03-01"},
    {"date_from": "2026-02-30", "date_to": "2026-03-02"},
    {"date_from": "2026-03-02", "date_to": "2026-03-01"},
    {"date_from": "2025-03-01", "date_to": "2026-03-03"},
]


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_one_computed_by_hand(caller: Caller, name: str) -> None:
    answer = caller.get(PATH, **{**WINDOW, **ANSWERS[name]})
    assert answer.status_code == 200, answer.text
    assert answer.json["data"] == json.loads((GOLDEN / "answers" / f"{name}.json").read_text())


def test_meta_tells_the_profile_the_window_and_the_snapshot(caller: Caller) -> None:
    meta = caller.get(PATH, **WINDOW).json["meta"]
    assert {name: meta[name] for name in WINDOW} == WINDOW
    assert meta["profile_id"] == "01900000-0000-7000-8000-00000000aaaa"
    assert meta["data_as_of"] == "2026-04-03T04:05:06.789Z"
    assert meta["snapshot_id"]


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_a_bad_value_is_invalid_parameter_and_named(caller: Caller, name: str, value: str) -> None:
    status, code, message = caller.refusal(PATH, **{**WINDOW, name: value})
    assert (status, code) == (400, "invalid_parameter")
    assert name in message


@pytest.mark.parametrize("window", BAD_WINDOWS)
def test_a_bad_window_is_invalid_date_range(caller: Caller, window: dict[str, str]) -> None:
    assert caller.refusal(PATH, **window)[:2] == (400, "invalid_date_range")


def test_a_misspelt_parameter_is_refused_with_the_nearest_known_one(caller: Caller) -> None:
    status, code, message = caller.refusal(PATH, **WINDOW, firstonly="true")
    assert (status, code) == (400, "invalid_parameter")
    assert "first_only" in message


def test_another_profile_sees_its_own_people_in_its_own_zone(counted: Deployment) -> None:
    data = counted.new_caller(OTHER).data(PATH, **WINDOW)
    assert (data["timezone"], data["totals"]["ad_people"]) == ("Asia/Tokyo", 70)


@pytest.mark.parametrize("group_by", ["month", "day", "ad"])
def test_before_anything_is_published_every_bucket_is_there_and_zero(unpublished: Deployment, group_by: str) -> None:
    answer = unpublished.new_caller().get(PATH, **WINDOW, group_by=group_by)
    data = answer.json["data"]
    assert answer.status_code == 200
    assert answer.json["meta"]["snapshot_id"] is None
    assert len(data["buckets"]) == data["buckets_total"] == {"month": 2, "day": 33, "ad": 0}[group_by]
    assert {bucket["ad_people"] for bucket in data["buckets"]} <= {0}
    assert data["totals"]["ad_people"] == 0
    assert data["totals"]["platform_messaging_conversations_started"] is None
    assert data["timezone"] == "America/New_York"


def test_a_profile_that_no_snapshot_knows_has_no_people(counted: Deployment) -> None:
    assert counted.new_caller(UNBUILT).data(PATH, **WINDOW)["totals"]["ad_people"] == 0


def test_the_longest_window_has_a_bucket_for_each_of_its_days(caller: Caller) -> None:
    data = caller.data(PATH, date_from="2025-04-01", date_to="2026-04-02", group_by="day")
    assert data["buckets_total"] == len(data["buckets"]) == 367
    assert data["totals"]["ad_people"] == 3


def test_a_known_answer_is_304_and_another_question_is_not(caller: Caller) -> None:
    tag = {"If-None-Match": caller.get(PATH, **WINDOW).headers["ETag"]}
    assert caller.get(PATH, **WINDOW, headers=tag).status_code == 304
    assert caller.get(PATH, **WINDOW, first_only="true", headers=tag).status_code == 200
