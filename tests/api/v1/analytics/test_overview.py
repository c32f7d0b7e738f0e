"""The overview of the golden tables (tests/golden/campaigns): sums worked out by hand, and laws between them."""

from __future__ import annotations

import pytest

from api.served import MODELS, REASONS
from tests.api.v1.campaigns.conftest import OTHER, UNBUILT, WINDOW, Caller, Deployment

# 325.67 of cash in 5 payments and 10 conversions; 25.01, 2 and 4 of them on no campaign; 38.50 spent
CURRENT = {
    "date_from": "2026-03-01",
    "date_to": "2026-03-02",
    "spend": 38.5,  # 10.00 + 20.50 + 3.00 + 5.00
    "revenue": 300.66,  # 325.67 - 20.00 - 5.01
    "cash_revenue": 325.67,
    "cash_payments": 5,
    "organic_direct_revenue": 20.0,
    "roas": 7.80935065,  # 300.66 / 38.50
    "cac": 12.83333333,  # 38.50 / (5 - 2)
    "outcomes": 10,
    "attributed_outcomes": 6,
    "coverage_percent": 60.0,
}
COVERAGE = {
    "attributed": (6, 3, 300.66, 60.0),
    "paid_without_ad": (1, 1, 5.01, 10.0),
    "direct": (2, 1, 20.0, 20.0),
    "no_touch": (1, 0, 0.0, 10.0),
}
# 2026-02-27 has nothing; 2026-02-28 has 14 payments of 14,000.00, 9 of them direct, and 999.99 of spend
PREVIOUS = {
    "date_from": "2026-02-27",
    "date_to": "2026-02-28",
    "spend": 999.99,
    "revenue": 5000.0,
    "cash_revenue": 14000.0,
    "cash_payments": 14,
    "organic_direct_revenue": 9000.0,
    "roas": 5.00005,
    "cac": 199.998,
    "outcomes": 28,
    "attributed_outcomes": 10,
    "coverage_percent": 35.71428571,
}


def test_the_window_and_the_one_before_are_those_computed_by_hand(caller: Caller) -> None:
    data = caller.data("/overview")
    coverage = data["current"].pop("coverage")
    data["previous"].pop("coverage")
    assert data == {"current": CURRENT, "previous": PREVIOUS}
    parts = {"attributed": coverage["attributed"], **{row["reason"]: row for row in coverage["by_reason"]}}
    names = ("outcomes", "cash_payments", "cash_revenue", "percent")
    told = {reason: tuple(part[name] for name in names) for reason, part in parts.items()}
    assert told == {**dict.fromkeys(("attributed", *REASONS), (0, 0, 0.0, 0.0)), **COVERAGE}
    assert [row["reason"] for row in coverage["by_reason"]] == list(REASONS)


@pytest.mark.parametrize("model", MODELS)
def test_coverage_adds_up_and_agrees_with_the_campaigns(caller: Caller, model: str) -> None:
    current = caller.data("/overview", model=model)["current"]
    parts = [current["coverage"]["attributed"], *current["coverage"]["by_reason"]]
    for name, whole in (("outcomes", 10), ("cash_payments", 5), ("cash_revenue", 325.67), ("percent", 100.0)):
        assert sum(part[name] for part in parts) == pytest.approx(whole)
    rows = caller.data("/campaigns", model=model, limit=100)
    assert current["revenue"] == pytest.approx(sum(row["outcome_value"] for row in rows))
    assert current["spend"] == pytest.approx(sum(row["spend"] for row in rows))


def test_a_window_of_one_day_is_compared_with_the_day_before(caller: Caller) -> None:
    data = caller.data("/overview", date_from="2026-03-02")
    assert data["previous"]["cash_revenue"] == 270.33
    assert (data["previous"]["date_from"], data["previous"]["date_to"]) == ("2026-03-01", "2026-03-01")


def test_what_cannot_be_divided_is_null(caller: Caller) -> None:
    empty = caller.data("/overview", date_from="2030-01-01", date_to="2030-01-31")["current"]
    assert (empty["roas"], empty["cac"], empty["coverage_percent"]) == (None, None, None)
    assert (empty["spend"], empty["cash_revenue"], empty["outcomes"]) == (0.0, 0.0, 0)
    assert empty["coverage"]["attributed"]["percent"] is None


def test_a_currency_without_a_minor_unit_keeps_its_whole_units(golden: Deployment) -> None:
    current = golden.new_caller(OTHER).data("/overview")["current"]
    assert (current["spend"], current["cash_revenue"], current["cac"]) == (1234.0, 5000.0, 1234.0)


def test_the_days_are_dense_and_add_up_to_the_overview(caller: Caller) -> None:
    window = {"date_from": "2026-02-27", "date_to": "2026-03-03"}
    days = caller.data("/timeseries", **window)
    assert [day["date"] for day in days] == ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03"]
    assert days[0] == {
        "date": "2026-02-27", "spend": 0.0, "revenue": 0.0, "cash_revenue": 0.0, "cash_payments": 0, "outcomes": 0,
    }  # fmt: skip
    assert days[2] == {
        "date": "2026-03-01", "spend": 13.0, "revenue": 250.33,
        "cash_revenue": 270.33, "cash_payments": 3, "outcomes": 6,
    }  # fmt: skip
    whole = caller.data("/overview", **window)["current"]
    for name in ("spend", "revenue", "cash_revenue", "cash_payments", "outcomes"):
        assert sum(day[name] for day in days) == pytest.approx(whole[name])


@pytest.mark.parametrize("path", ["/overview", "/timeseries"])
def test_meta_tells_window_model_and_snapshot(caller: Caller, path: str) -> None:
    response = caller.get(path, **WINDOW, model="linear")
    meta = response.json["meta"]
    assert (meta["model"], meta["currency"], meta["delivery_through"]) == ("linear", "USD", "2026-03-02")
    assert meta["data_as_of"] == "2026-03-03T04:05:06.789Z"
    assert {name: meta[name] for name in WINDOW} == WINDOW
    tag = {"If-None-Match": response.headers["ETag"]}
    assert caller.get(path, tag, **WINDOW, model="linear").status_code == 304
    assert caller.get(path, tag, **WINDOW).status_code == 200


def test_before_the_first_snapshot_everything_is_zero_or_absent(unpublished: Deployment) -> None:
    caller = unpublished.new_caller(UNBUILT)
    response = caller.get("/overview", **WINDOW)
    assert response.json["meta"]["snapshot_id"] is None
    assert response.json["data"]["previous"]["cash_revenue"] == 0.0
    assert caller.data("/timeseries") == []


@pytest.mark.parametrize("path", ["/overview", "/timeseries"])
def test_a_bad_window_model_or_name_is_refused(caller: Caller, path: str) -> None:
    assert caller.refusal(path)[:2] == (400, "invalid_date_range")
    assert caller.refusal(path, **WINDOW, model="best")[:2] == (400, "invalid_parameter")
    assert caller.refusal(path, **WINDOW, level="ad")[:2] == (400, "invalid_parameter")
    long = {"date_from": "2026-01-01", "date_to": "2027-01-03"}
    assert caller.refusal(path, **long)[:2] == (400, "invalid_date_range")


def test_there_is_no_window_before_the_first_day(caller: Caller) -> None:
    first = {"date_from": "0001-01-01", "date_to": "0001-01-02"}
    assert caller.refusal("/overview", **first)[:2] == (400, "invalid_date_range")
    assert len(caller.data("/timeseries", **first)) == 2
