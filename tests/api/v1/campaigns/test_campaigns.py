"""GET /campaigns: five models, three levels, windows, neighbours, and what an empty deployment answers."""

from __future__ import annotations

from typing import Any

import pytest

from api.served import MODELS
from api.v1.campaigns.schemas import CampaignRow
from tests.api.v1.campaigns.conftest import OTHER, UNBUILT, WINDOW, Caller, Deployment

SHORT_ROW = {
    "campaign_id", "campaign_name", "platform", "platform_id", "spend", "outcome_count", "outcome_value", "roas",
    "attributed_outcome_count", "attributed_outcomes_by_type",
}  # fmt: skip
LEVEL_FIELDS = {
    "entity_level", "parent_name", "impressions", "clicks", "reach", "reach_basis", "ctr", "avg_cpm", "avg_cpc", "cac",
    "status", "objective", "daily_budget", "budget_currency", "campaign_external_id", "ad_set_external_id",
    "messaging_conversations_started_7d",
}  # fmt: skip
CREDITED = {
    "last_touch": [("Spring sale", 150.33, 2), ("Ended last year", 150.33, 1)],
    "first_touch": [("Spring sale", 200.0, 2), ("Ended last year", 100.66, 1)],
    "linear": [("Spring sale", 160.0, 3), ("Ended last year", 140.66, 2)],
    "time_decay": [("Spring sale", 170.0, 3), ("Ended last year", 130.66, 2)],
    "last_non_direct": [("Spring sale", 170.33, 3), ("Ended last year", 150.33, 1)],
}


def test_a_caller_without_a_key_is_refused(caller: Caller) -> None:
    caller.key = ""
    assert caller.refusal(**WINDOW)[:2] == (401, "unauthorized")


@pytest.mark.parametrize("model", MODELS)
def test_each_model_gives_its_own_figures(caller: Caller, model: str) -> None:
    rows = caller.data(model=model)
    credited = [
        (row["campaign_name"], row["outcome_value"], row["outcome_count"]) for row in rows if row["outcome_value"]
    ]
    assert credited == CREDITED[model]


@pytest.mark.parametrize("model", MODELS)
def test_rows_and_the_remainder_add_up_to_the_same_total_under_every_model(caller: Caller, model: str) -> None:
    remainder = caller.data("/campaigns/unattributed", model=model)
    rows = caller.data(model=model)
    assert round(sum(row["outcome_value"] for row in rows) + remainder["outcome_value"], 2) == 325.67
    assert remainder["profile_total"]["outcome_value"] == 325.67


@pytest.mark.parametrize("model", ["last_touch", "first_touch", "last_non_direct"])
def test_counts_add_up_under_single_credit_models(caller: Caller, model: str) -> None:
    remainder = caller.data("/campaigns/unattributed", model=model)
    rows = caller.data(model=model)
    for count in ("outcome_count", "attributed_outcome_count"):
        assert sum(row[count] for row in rows) + remainder[count] == remainder["profile_total"][count]


def test_the_default_model_is_last_touch(caller: Caller) -> None:
    response = caller.get("/campaigns", **WINDOW)
    assert response.json["data"] == caller.data(model="last_touch")
    assert response.json["meta"]["model"] == "last_touch"


def test_a_row_without_level_has_the_fields_of_the_specification_and_its_platform_id(caller: Caller) -> None:
    assert {frozenset(row) for row in caller.data()} == {frozenset(SHORT_ROW)}


@pytest.mark.parametrize("level", ["campaign", "ad_set", "ad"])
def test_a_row_with_level_has_every_additional_field(caller: Caller, level: str) -> None:
    rows = caller.data(level=level)
    assert {frozenset(row) for row in rows} == {frozenset(SHORT_ROW | LEVEL_FIELDS)}
    assert {row["entity_level"] for row in rows} == {level}


def test_values_of_single_days_add_up_to_the_window(caller: Caller) -> None:
    def value(**window: str) -> float:
        return float(sum(row["outcome_value"] for row in caller.data(**window)))

    days = [value(date_from=day, date_to=day) for day in ("2026-03-01", "2026-03-02")]
    assert days == [250.33, 50.33]
    assert round(sum(days), 2) == value()


def test_children_of_one_parent_can_be_asked_for(caller: Caller) -> None:
    def names(**query: Any) -> list[str]:
        return [row["campaign_name"] for row in caller.data(**query)]

    assert names(level="ad_set", campaign_external_id="102") == ["Visitors"]
    assert names(level="ad", campaign_external_id="101") == ["Blue jacket", "Red jacket"]
    assert names(level="ad", ad_set_external_id="202") == ["Come back"]
    assert names(level="ad", campaign_external_id="101", ad_set_external_id="202") == []


def test_rows_total_counts_all_pages(caller: Caller) -> None:
    meta = caller.get("/campaigns", **WINDOW, limit=3).json["meta"]
    assert meta["rows_total"] == 4
    assert meta["next_cursor"]


def test_meta_says_what_was_answered(caller: Caller) -> None:
    meta = caller.get("/campaigns", **WINDOW, level="ad", model="linear").json["meta"]
    assert meta.pop("snapshot_id")
    assert meta == {
        **WINDOW,
        "profile_id": "01900000-0000-7000-8000-00000000aaaa",
        "currency": "USD",
        "level": "ad",
        "model": "linear",
        "rows_total": 3,
        "next_cursor": None,
        "data_as_of": "2026-03-03T04:05:06.789Z",
        "delivery_through": "2026-03-02",
    }


def test_a_currency_without_decimals_is_not_divided(golden: Deployment) -> None:
    (row,) = golden.new_caller(OTHER).data(level="campaign")
    assert (row["spend"], row["outcome_value"]) == (1234.0, 5000.0)
    assert (row["cac"], row["avg_cpm"], row["daily_budget"]) == (1234.0, 12340.0, 900.0)
    assert row["roas"] == 4.05186386  # 5000 / 1234 = 4.051863857...


def test_a_window_without_anything_has_no_rows(caller: Caller) -> None:
    response = caller.get("/campaigns", date_from="2020-01-01", date_to="2020-01-31")
    assert response.json["data"] == []
    assert response.json["meta"]["rows_total"] == 0


def test_a_profile_the_snapshot_does_not_know_is_empty_not_missing(golden: Deployment) -> None:
    caller = golden.new_caller(UNBUILT)
    response = caller.get("/campaigns", **WINDOW)
    assert (response.status_code, response.json["data"]) == (200, [])
    meta = response.json["meta"]
    assert meta["snapshot_id"]
    assert (meta["data_as_of"], meta["currency"]) == (None, "EUR")
    assert caller.data("/campaigns/unattributed")["profile_total"]["attributed_outcomes_by_type"] == {}


@pytest.mark.parametrize("path", ["/campaigns", "/campaigns/trend", "/campaigns/unattributed"])
def test_before_the_first_publication_reads_are_empty_and_say_so(unpublished: Deployment, path: str) -> None:
    ids = {"entity_ids": "aaaaaaaa-0000-8000-8000-000000000011"} if path.endswith("trend") else {}
    response = unpublished.new_caller(UNBUILT).get(path, **WINDOW, **ids)
    assert response.status_code == 200
    meta = response.json["meta"]
    assert (meta["snapshot_id"], meta["data_as_of"]) == (None, None)
    assert response.json["data"] == [] or response.json["data"]["outcome_value"] == 0


def test_the_head_of_a_read_has_no_body(caller: Caller) -> None:
    response = caller.client.head(
        "/api/v1/campaigns", query_string=WINDOW, headers={"Authorization": f"Bearer {caller.key}"}
    )
    assert (response.status_code, response.data) == (200, b"")
    assert response.headers["ETag"]


@pytest.mark.parametrize("level", [None, "campaign", "ad_set", "ad"])
@pytest.mark.parametrize("model", ["last_touch", "linear"])
def test_rows_are_written_as_their_schema_would_write_them(caller: Caller, model: str, level: str | None) -> None:
    rows = caller.data(model=model, **({"level": level} if level else {}))
    assert rows
    assert CampaignRow(many=True).dump(rows) == rows
