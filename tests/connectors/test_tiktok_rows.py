"""What a report of TikTok's tells of one row, and what it cannot tell."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from flask import Flask, jsonify

from connectors.ad_platform import Row
from connectors.errors import Malformed, as_promised
from connectors.tiktok_ads import TikTokAds
from connectors.tiktok_rows import ad_account, ad_set, by_country, campaign, creative, delivery
from connectors.transport import Transport
from tests.fixtures.sandbox import TODAY, served

IDS = ("campaign_id", "adgroup_id", "ad_id")
CLAIMS = ("complete_payment", "total_complete_payment_rate")


def told(**metrics: Any) -> Row:
    """An ad's day, with claims."""
    known = {
        "adgroup_id": "2", "campaign_id": "3", "spend": "1.50", "impressions": "9", "clicks": "1",
        "complete_payment": "2", "total_complete_payment_rate": "80.5", **metrics,
    }  # fmt: skip
    about = {"ad_id": "1", "stat_time_day": f"{TODAY} 00:00:00"}
    return {"dimensions": about, "metrics": known}


@pytest.mark.parametrize("unknown", ["-", "", None])
def test_a_claim_that_tiktok_cannot_tell_is_no_claim_and_keeps_the_days_spend(unknown: str | None) -> None:
    row = delivery(told(**dict.fromkeys(CLAIMS, unknown)), "9", "USD")
    assert (row["platform_conversions"], row["platform_conversion_value"]) == (None, None)
    assert (row["spend"], row["impressions"], row["reach"]) == (Decimal("1.5"), 9, None)
    whole = delivery(told(complete_payment="0"), "9", "USD")
    assert (whole["platform_conversions"], whole["platform_conversion_value"]) == (0, Decimal("80.5"))


@pytest.mark.parametrize("odd", [{"complete_payment": "many"}, {"spend": "-"}, {"impressions": None}])
def test_what_is_no_figure_at_all_is_malformed(odd: dict[str, Any]) -> None:
    with pytest.raises(Malformed), as_promised("tiktok"):
        delivery(told(**odd), "9", "USD")


@pytest.mark.parametrize(
    ("named", "warmth"),
    [
        ({}, "cold"),
        ({"audience_ids": [], "shopping_ads_retargeting_type": "OFF"}, "cold"),
        ({"audience_ids": ["71"]}, None),
        ({"shopping_ads_retargeting_type": "LAB1"}, None),
    ],
)
def test_an_ad_group_is_cold_unless_it_names_people_whom_the_advertiser_knows(
    named: dict[str, Any], warmth: str | None
) -> None:
    row = ad_set({"adgroup_id": "2", "adgroup_name": "G", "campaign_id": "3", **named}, "USD")
    assert (row["audience_warmth"], row["status"], row["created_at"]) == (warmth, "UNKNOWN", None)


def test_a_campaign_is_of_what_it_aims_at_and_one_without_a_limit_has_no_budget() -> None:
    node = {"campaign_id": "3", "campaign_name": "C", "advertiser_id": "9", "objective_type": "TRAFFIC"}
    node |= {"budget_mode": "BUDGET_MODE_INFINITE", "budget": 50}
    row = campaign(node, {"4"}, "USD")
    assert row["objective_group"] == "traffic"
    assert (row["daily_budget_minor"], row["lifetime_budget_minor"]) == (None, None)
    assert row.keys() == campaign(node, {"3"}, "USD").keys()
    assert campaign(node, {"3"}, "USD")["objective_group"] == "messaging"


def test_the_days_of_an_account_are_of_its_named_zone_or_else_of_its_offset() -> None:
    node = {"advertiser_id": "9", "currency": "USD", "timezone": "Etc/GMT+8", "status": "STATUS_LIMIT"}
    named = {**node, "display_timezone": "America/Los_Angeles"}
    found = [(one["timezone"], one["status"]) for one in (ad_account(node), ad_account(named))]
    assert found == [("Etc/GMT+8", "STATUS_LIMIT"), ("America/Los_Angeles", "STATUS_LIMIT")]


@pytest.mark.parametrize(
    ("seen", "form"),
    [
        ({"ad_format": "SINGLE_VIDEO"}, "video"),
        ({"video_id": "v"}, "video"),
        ({"ad_format": "CATALOG_CAROUSEL", "video_id": "v"}, "carousel"),
        ({"ad_format": "SINGLE_IMAGE", "landing_page_url": ""}, "image"),
        ({"landing_page_url": "https://shop.example/"}, "image"),
    ],
)
def test_what_is_shown_has_a_form_and_a_page_or_none(seen: dict[str, Any], form: str) -> None:
    row = creative({"ad_id": "1", **seen})
    assert (row["format"], row["landing_url"]) == (form, seen.get("landing_page_url") or None)
    assert row["content_hash"] != creative({"ad_id": "1", **seen, "image_ids": ["p"]})["content_hash"]


def test_a_country_that_tiktok_does_not_tell_is_unknown() -> None:
    row = told()
    assert by_country(row)["value"] == "unknown"
    row["dimensions"]["country_code"] = "MX"
    assert by_country(row)["value"] == "mx"


def test_a_window_whose_reach_tiktok_cannot_tell_has_none(transport: Transport) -> None:
    app = Flask("tiktok")

    @app.get("/open_api/v1.3/report/integrated/get/")
    def report() -> Any:
        rows = [
            {
                "dimensions": {"stat_time_day": f"{TODAY} 00:00:00", **dict.fromkeys(IDS, number)},
                "metrics": {"reach": reach},
            }
            for number, reach in (("1", "-"), ("2", "8"))
        ]
        page = {"page": 1, "page_size": 1000, "total_number": 2, "total_page": 1}
        return jsonify(code=0, data={"list": rows, "page_info": page})

    with served(app) as url:
        rows = list(TikTokAds(url, "t", "9", transport).reach([(TODAY, TODAY), (TODAY.replace(day=1), TODAY)]))
    assert [(row["level"], row["entity_id"], row["reach"]) for row in rows] == [
        (level, "2", 8) for level in ("campaign", "ad_set", "ad") for _ in range(2)
    ]
