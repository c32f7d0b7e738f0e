"""GET /campaigns/platform-comparison: two sides, computed by hand, never added."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.api.v1.campaigns.conftest import OTHER, TWO_SIDES, UNBUILT, WINDOW, Caller, Deployment

PATH = "/campaigns/platform-comparison"
ANSWERS: dict[str, dict[str, str]] = {
    "comparison_campaign": {},
    "comparison_ad": {"level": "ad"},
    "comparison_linear": {"model": "linear", "level": "campaign"},
}


@pytest.fixture
def caller(compared: Deployment) -> Caller:
    return compared.new_caller()


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_one_computed_by_hand(caller: Caller, name: str) -> None:
    expected = json.loads((TWO_SIDES / "answers" / f"{name}.json").read_text())
    assert caller.data(PATH, **ANSWERS[name]) == expected


@pytest.mark.parametrize("level", ["campaign", "ad"])
def test_entity_rows_and_unassigned_are_the_platforms_cash(caller: Caller, level: str) -> None:
    data = caller.data(PATH, level=level)
    for total in data["platforms"]:
        rows = [row for row in data["rows"] if row["platform"] == total["platform"]]
        cash = sum((Decimal(row["service_cash_revenue"]) for row in rows), Decimal(total["unassigned_cash_revenue"]))
        assert cash == Decimal(total["service_cash_revenue"])
        assert (
            sum(row["service_conversions"] for row in rows) + total["unassigned_conversions"]
            == (total["service_conversions"])
        )


def test_under_a_multi_credit_model_a_platform_counts_a_conversion_once(caller: Caller) -> None:
    data = caller.data(PATH, model="linear")
    assert [row["service_conversions"] for row in data["rows"]] == [1, 1]
    assert {total["platform"]: total["service_conversions"] for total in data["platforms"]} == {"google": 0, "meta": 1}


def test_meta_says_what_the_answer_is_of(caller: Caller) -> None:
    meta = caller.get(PATH, **WINDOW).json["meta"]
    assert {name: meta[name] for name in ("model", "level", "currency", "rows_total", "next_cursor")} == {
        "model": "last_touch", "level": "campaign", "currency": "USD", "rows_total": 3, "next_cursor": None,
    }  # fmt: skip
    assert meta["data_as_of"] == "2026-03-03T04:05:06.789Z"


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_walk_gives_each_row_once_and_every_page_all_platforms(caller: Caller, limit: int) -> None:
    whole = caller.data(PATH, level="ad")
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        body = caller.get(PATH, **WINDOW, level="ad", limit=limit, **cursor).json
        assert body["data"]["platforms"] == whole["platforms"]
        assert body["meta"]["rows_total"] == 3
        rows += body["data"]["rows"]
        if body["meta"]["next_cursor"] is None:
            break
        cursor = {"cursor": body["meta"]["next_cursor"]}
    assert rows == whole["rows"]


def test_a_cursor_of_another_list_or_other_filters_is_refused(caller: Caller) -> None:
    mine = caller.get(PATH, **WINDOW, limit=1).json["meta"]["next_cursor"]
    theirs = caller.get("/campaigns", **WINDOW, limit=1).json["meta"]["next_cursor"]
    for query in ({"cursor": mine, "model": "linear"}, {"cursor": mine, "level": "ad"}, {"cursor": theirs}):
        assert caller.refusal(PATH, **WINDOW, **query)[:2] == (400, "invalid_parameter")
    assert caller.get(PATH, **WINDOW, cursor=mine, limit=1000).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"),
        ("limit", "1001"),
        ("model", "last"),
        ("level", "platform"),
        ("cursor", "x"),
        ("platform", "meta"),
    ],
)
def test_a_bad_value_is_invalid_parameter_and_named(caller: Caller, name: str, value: str) -> None:
    status, code, message = caller.refusal(PATH, **WINDOW, **{name: value})
    assert (status, code) == (400, "invalid_parameter")
    assert name in message


def test_the_window_is_needed_and_at_most_366_days(caller: Caller) -> None:
    assert caller.refusal(PATH)[:2] == (400, "invalid_date_range")
    assert caller.refusal(PATH, date_from="2025-03-01", date_to="2026-03-03")[:2] == (400, "invalid_date_range")
    assert caller.get(PATH, date_from="2025-03-01", date_to="2026-03-02").status_code == 200


def test_nobody_sees_it_without_a_key(caller: Caller) -> None:
    response = caller.client.get(f"/api/v1{PATH}", query_string=WINDOW)
    assert (response.status_code, response.json["error"]["code"]) == (401, "unauthorized")


def test_a_currency_without_minor_unit_has_no_decimals(compared: Deployment) -> None:
    (total,) = compared.new_caller(OTHER).data(PATH)["platforms"]
    # 5000 yen credited, 1234 spent; its claims are 5 conversions worth 5000
    assert (total["spend"], total["service_cash_revenue"], total["value_gap"]) == ("1234", "5000", "0")
    assert (total["currency"], total["reported_basis"]) == ("JPY", "click_only")


def test_a_platform_has_delivery_from_its_first_day_on_which_is_not_over_yet(compared: Deployment) -> None:
    (total,) = compared.new_caller(OTHER).data(PATH)["platforms"]
    assert (total["spend"], total["has_delivery"], total["delivery_through"]) == ("1234", True, None)


def test_before_the_first_publication_there_is_nothing_to_compare(
    unpublished: Deployment, compared: Deployment
) -> None:
    for caller in (unpublished.new_caller(), compared.new_caller(UNBUILT)):
        body = caller.get(PATH, **WINDOW).json
        assert body["data"] == {"platforms": [], "rows": []}
        assert (body["meta"]["rows_total"], body["meta"]["next_cursor"]) == (0, None)


def test_a_known_answer_is_not_sent_again(caller: Caller) -> None:
    tag = caller.get(PATH, **WINDOW).headers["ETag"]
    assert caller.get(PATH, headers={"If-None-Match": tag}, **WINDOW).status_code == 304
    assert caller.get(PATH, headers={"If-None-Match": tag}, **WINDOW, model="linear").status_code == 200
