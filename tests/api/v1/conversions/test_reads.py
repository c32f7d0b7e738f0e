"""Conversions and journeys: which are found, which are refused, and what pages hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.customer_keys import customer_key
from tests.api.v1.campaigns.conftest import OTHER, PROFILE, UNBUILT, Caller, Deployment
from tests.api.v1.conversions.conftest import GOLDEN, WINDOW, conversion_id, tell
from tests.factories import erasures, served

# the id that old@example.com would give its person, who today is known by an older identifier
FORMER = "382fd6b7-d1b8-8c96-9c04-6dcc7402313e"


def _found(caller: Caller, handle: str) -> str:
    return str(caller.get(f"/conversions/{handle}/journey").json["data"]["conversion"]["conversion_id"])


def test_a_handle_is_a_conversions_id_then_an_events_then_the_callers_key(caller: Caller) -> None:
    # conversion 3 was sent under a key that is spelt like the id of conversion 1
    assert _found(caller, conversion_id(1).upper()) == conversion_id(1)
    assert _found(caller, conversion_id(501)) == conversion_id(1)
    assert _found(caller, "sale-1") == conversion_id(1)


@pytest.mark.parametrize("handle", ["crm-1", "sale-1 again", conversion_id(509), conversion_id(509).upper()])
def test_a_payment_is_found_by_each_of_the_callers_records_that_tell_of_it(caller: Caller, handle: str) -> None:
    # only the best of them is told with it: the others were unknown, though each had been accepted
    assert _found(caller, handle) == conversion_id(1)


@pytest.mark.parametrize(
    ("sent", "asked"),
    [
        ("/a/", "%2Fa%2F"),
        ("/", "%2F"),
        ("a?b#c%2F", "a%3Fb%23c%252F"),
        ("café", "cafe%CC%81"),
        ("a b", "%20a%20b%20"),
        ("a\nb", "a%0Ab"),
    ],
)
def test_a_callers_key_is_found_by_any_text_it_was_sent_in(tmp_path: Path, sent: str, asked: str) -> None:
    for told in tell(tmp_path):
        tables = served.from_csv(GOLDEN)
        tables["conversions"][0]["event_key"] = sent
        told.publish(tables, token=2)
        assert _found(told.new_caller(), asked) == conversion_id(1)


@pytest.mark.parametrize(
    "handle", ["stripe:pi_1", "sale-other", "crm-other", "unknown", "x" * 256, "a%00b", conversion_id(7)]
)
def test_another_profiles_and_unknown_handles_answer_the_same(caller: Caller, handle: str) -> None:
    status, code, _ = caller.refusal(f"/conversions/{handle}/journey")
    assert (status, code) == (404, "conversion_not_found")


@pytest.mark.parametrize("key", ["", "ck_short", "crm-77", "ext:", "ext: ", "ext:a\nb", "ext:" + "x" * 129])
def test_a_malformed_customer_key_is_refused(caller: Caller, key: str) -> None:
    status, code, message = caller.refusal("/customers/journey", customer_key=key)
    assert (status, code) == (400, "invalid_parameter")
    assert "customer_key" in message


def test_a_customer_key_is_required(caller: Caller) -> None:
    assert caller.refusal("/customers/journey")[:2] == (400, "invalid_parameter")


def test_an_unknown_foreign_or_altered_customer_is_not_found(caller: Caller, told: Deployment) -> None:
    foreign = customer_key(told.settings, OTHER, FORMER)
    for key in ("ext:nobody", "ext:crm-88", foreign, "ck_" + "A" * 43):
        assert caller.refusal("/customers/journey", customer_key=key)[:2] == (404, "customer_not_found"), key


def test_the_key_of_a_merged_customer_leads_to_the_survivor(caller: Caller, told: Deployment) -> None:
    merged = customer_key(told.settings, PROFILE, FORMER)
    answers = [caller.get("/customers/journey", customer_key=key).json["data"] for key in (merged, "ext:crm-77")]
    assert answers[0] == answers[1]


def _walk(caller: Caller, path: str, part: str | None, **query: Any) -> list[dict[str, Any]]:
    rows, cursor = [], None
    for _ in range(20):
        body = caller.get(path, **query, **({"cursor": cursor} if cursor else {})).json
        rows += body["data"][part] if part else body["data"]
        cursor = body["pagination"]["cursor"]
        assert body["pagination"]["has_next"] == (cursor is not None)
        if cursor is None:
            return rows
    raise AssertionError("the walk does not end")


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 500])
def test_a_walk_over_touches_gives_each_once_in_order_of_time(caller: Caller, limit: int) -> None:
    rows = _walk(caller, "/customers/journey", "touches", customer_key="ext:crm-77", limit=limit)
    assert [row["position"] for row in rows] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 200])
def test_a_walk_over_conversions_gives_each_once_newest_first(caller: Caller, limit: int) -> None:
    rows = _walk(caller, "/conversions/list", None, **WINDOW, limit=limit)
    assert [row["conversion_id"] for row in rows] == [conversion_id(n) for n in (4, 2, 3, 1)]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"type": "closed_won"}, [3]),
        ({"credited": "true"}, [2, 1]),
        ({"credited": "false"}, [4, 3]),
        ({"credited": "true", "model": "linear", "type": "payment_received"}, [2, 1]),
        ({"date_to": "2026-01-15"}, [1]),
    ],
)
def test_a_list_holds_what_it_was_asked_for(caller: Caller, query: dict[str, str], numbers: list[int]) -> None:
    rows = caller.get("/conversions/list", **{**WINDOW, **query}).json["data"]
    assert [row["conversion_id"] for row in rows] == [conversion_id(n) for n in numbers]


def test_the_campaign_of_a_row_follows_the_model(caller: Caller) -> None:
    campaigns = {
        model: caller.get("/conversions/list", **WINDOW, model=model).json["data"][-1]["campaign_id"]
        for model in ("last_touch", "first_touch", "time_decay")
    }
    expected = {"last_touch": 20, "first_touch": 10, "time_decay": 10}
    assert campaigns == {model: conversion_id(number) for model, number in expected.items()}


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("/conversions", "limit", "5"),
        ("/conversions/timeseries", "type", "closed_won"),
        ("/conversions/list", "type", "sale"),
        ("/conversions/list", "credited", "True"),
        ("/conversions/list", "credited", "1"),
        ("/conversions/list", "limit", "201"),
        ("/conversions/list", "model", "last"),
        ("/conversions/list", "cursor", "x"),
    ],
)
def test_a_bad_value_is_invalid_parameter(caller: Caller, path: str, name: str, value: str) -> None:
    status, code, message = caller.refusal(path, **WINDOW, **{name: value})
    assert (status, code) == (400, "invalid_parameter")
    assert name in message


def test_journeys_cost_three_units_and_lists_one(told: Deployment) -> None:
    caller = told.new_caller()
    left = [
        int(caller.get(path, **query).headers["X-RateLimit-Remaining"])
        for path, query in (
            ("/conversions", WINDOW),
            ("/conversions/sale-1/journey", {}),
            ("/customers/journey", {"customer_key": "ext:crm-77"}),
        )
    ]
    assert [left[0] - left[1], left[1] - left[2]] == [3, 3]


def test_a_known_journey_is_answered_with_304(caller: Caller) -> None:
    tag = caller.get("/conversions/sale-1/journey").headers["ETag"]
    assert caller.get("/conversions/sale-1/journey", headers={"If-None-Match": tag}).status_code == 304


def test_only_what_there_is_can_be_known_already(caller: Caller) -> None:
    for path in ("/conversions/unknown/journey", "/ads/unknown"):
        assert caller.get(path, headers={"If-None-Match": "*"}).status_code == 404
    assert caller.get("/conversions/sale-1/journey", headers={"If-None-Match": "*"}).status_code == 304


def test_who_asked_to_be_forgotten_has_no_journey_from_then_on(tmp_path: Path) -> None:
    for told in tell(tmp_path):
        caller, query = told.new_caller(), {"customer_key": "ext:crm-77"}
        known = {"If-None-Match": caller.get("/customers/journey", **query).headers["ETag"]}
        assert caller.get("/customers/journey", headers=known, **query).status_code == 304
        erasures.forget(told.settings, PROFILE, ("external_id", "crm-77"))
        for key in ("ext:crm-77", customer_key(told.settings, PROFILE, FORMER)):
            assert caller.get("/customers/journey", headers=known, customer_key=key).status_code == 404


def test_a_profile_that_was_never_built_has_no_conversions(told: Deployment) -> None:
    caller = told.new_caller(UNBUILT)
    for path in ("/conversions", "/conversions/timeseries", "/conversions/list"):
        assert caller.get(path, **WINDOW).json["data"] == []
    assert caller.refusal("/conversions/sale-1/journey")[:2] == (404, "conversion_not_found")
    assert caller.refusal("/customers/journey", customer_key="ext:crm-77")[:2] == (404, "customer_not_found")


@pytest.mark.parametrize("path", ["/conversions", "/conversions/list", "/conversions/x/journey", "/customers/journey"])
def test_without_a_key_nothing_is_told(told: Deployment, path: str) -> None:
    assert Caller(told.app.test_client(), "").get(path).status_code == 401


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Deployment]:
    yield from tell(tmp_path)


def test_a_walk_goes_on_in_the_snapshot_it_began_in(own: Deployment) -> None:
    caller = own.new_caller()
    first = caller.get("/conversions/list", **WINDOW, limit=3).json
    own.publish({"profiles": []}, token=2)
    cursor = first["pagination"]["cursor"]
    rest = caller.get("/conversions/list", **WINDOW, limit=3, cursor=cursor).json
    assert [row["conversion_id"] for row in rest["data"]] == [conversion_id(1)]
    assert caller.refusal("/conversions/list", **WINDOW, limit=3, cursor=cursor, type="closed_won")[0] == 400
