"""What a report of TikTok's tells of one row, and what it cannot tell."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from flask import Flask, jsonify

from connectors.ad_platform import Row
from connectors.errors import Malformed, as_promised
from connectors.tiktok_ads import TikTokAds
from connectors.tiktok_rows import delivery
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
