"""From sums in minor units to the answer about one ad."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

import orjson

from api.money import amount, ratio
from api.reading import timestamp
from api.v1.campaigns.rows import outcomes, payments

Sums = Mapping[str, Any]

_SHOWN = (
    "creative_id", "format", "thumbnail_url", "video_id", "title", "body", "landing_host", "url_tags", "hook_type",
    "creative_format", "cta_type", "primary_angle",
)  # fmt: skip


def detail(
    ad: Sums,
    delivered: Sums,
    credited: Sums,
    reach: tuple[int, str] | None,
    score: Mapping[str, Any] | None,
    digits: int,
) -> dict[str, Any]:
    """The whole answer; `score` is null where the ad did not deliver in the last 28 days."""
    spend = delivered["spend_minor"]
    return {
        **_identity(ad),
        "creative": _creative(ad),
        **_delivery(delivered, reach, digits),
        **outcomes(credited, digits),
        "roas": ratio(credited["cash_minor"], spend),
        "cac": ratio(spend, 10**digits * payments(credited)),
        **_claims(delivered, digits),
        "score": score,
    }


def trend_row(ad: Sums, day: date, measured: Sums | None, digits: int) -> dict[str, Any]:
    """One ad on one day; without delivery nothing was spent, and nothing was reported."""
    found = measured or {"spend_minor": 0, "impressions": 0, "clicks": 0, "conversations": None}
    return {
        "entity_id": ad["entity_id"],
        "ad_external_id": ad["platform_id"],
        "ad_name": ad["name"],
        "date": day,
        "spend": amount(found["spend_minor"], digits),
        "impressions": found["impressions"],
        "clicks": found["clicks"],
        "messaging_conversations_started_7d": found["conversations"],
    }


def _identity(ad: Sums) -> dict[str, Any]:
    return {
        "ad_id": ad["entity_id"],
        "platform": ad["platform"],
        "ad_external_id": ad["platform_id"],
        "ad_name": ad["name"],
        "status": ad["status"],
        "objective": ad["objective"],
        "campaign_id": ad["campaign_id"],
        "campaign_name": ad["campaign_name"],
        "campaign_external_id": ad["campaign_platform_id"],
        "ad_set_id": ad["ad_set_id"],
        "ad_set_name": ad["ad_set_name"],
        "ad_set_external_id": ad["ad_set_platform_id"],
        "created_at": (at := _utc(ad["created_at"])) and timestamp(at),
    }


def _utc(at: datetime | None) -> datetime | None:
    # DuckDB's TIMESTAMP carries no zone; ours are UTC throughout
    return at and at.replace(tzinfo=UTC)


def _creative(ad: Sums) -> dict[str, Any]:
    offers = orjson.loads(ad["offers"]) if ad["offers"] is not None else None
    return {**{name: ad[name] for name in _SHOWN}, "offers": offers, "analysed_at": _utc(ad["analysed_at"])}


def _delivery(sums: Sums, reach: tuple[int, str] | None, digits: int) -> dict[str, Any]:
    spend, impressions, clicks, unit = sums["spend_minor"], sums["impressions"], sums["clicks"], 10**digits
    return {
        "spend": amount(spend, digits),
        "impressions": impressions,
        "clicks": clicks,
        # an ad that delivered nothing had no clicks; one that did may not have been measured
        "link_clicks": sums["link_clicks"] if sums["days"] else 0,
        "reach": reach[0] if reach else None,
        "reach_basis": reach[1] if reach else None,
        "ctr": ratio(100 * clicks, impressions),
        "avg_cpm": ratio(1000 * spend, unit * impressions),
        "avg_cpc": ratio(spend, unit * clicks),
        "video_3s_views": sums["video_3s_views"],
        "video_15s_views": sums["video_15s_views"],
        "messaging_conversations_started_7d": sums["conversations"],
    }


def _claims(sums: Sums, digits: int) -> dict[str, Any]:
    claimed, value = sums["platform_conversions"], sums["platform_value_minor"]
    return {
        "platform_reported_conversions": None if claimed is None else float(claimed),
        "platform_reported_conversion_value": None if value is None else amount(value, digits),
    }
