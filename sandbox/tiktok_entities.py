"""TikTok's advertisers, campaigns, ad groups and ads, as its API spells them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sandbox.ads import Ad, AdAccount, AdSet, Campaign, Creative
from sandbox.tiktok_world import PIXEL, Presence

Row = dict[str, Any]
OPERATIONS = {"ACTIVE": "ENABLE", "PAUSED": "DISABLE", "DELETED": "DELETE"}
GOALS = {"WEB_CONVERSIONS": "WEBSITE", "TRAFFIC": "WEBSITE", "LEAD_GENERATION": "LEAD_GENERATION"}


def advertiser(row: AdAccount) -> Row:
    """The advertiser, as `advertiser/info` tells of it."""
    return {
        "advertiser_id": row.id,
        "name": row.name,
        "currency": row.currency,
        "timezone": row.time_zone,
        "display_timezone": row.time_zone,
        "status": "STATUS_ENABLE",
        "role": "ROLE_ADVERTISER",
    }


def listed(presence: Presence, noun: str, changed: Mapping[str, Row]) -> list[Row]:
    """Every campaign, adgroup or ad of all advertisers as it is now, oldest first; `changed` are members by id."""
    campaigns = {
        row.id: _campaign(row, presence.lifetime_budgets.get(row.id)) | changed.get(row.id, {})
        for row in presence.tree.campaigns
    }
    if noun == "campaign":
        return [_shown(row, "CAMPAIGN", ()) for row in campaigns.values()]
    groups = {
        row.id: _ad_group(row, campaigns[row.campaign_id]) | changed.get(row.id, {}) for row in presence.tree.ad_sets
    }
    if noun == "adgroup":
        return [_shown(row, "ADGROUP", (("CAMPAIGN", campaigns[row["campaign_id"]]),)) for row in groups.values()]
    creatives = {row.id: row for row in presence.tree.creatives}
    shown = []
    for ad in presence.tree.ads:
        group = groups[ad.ad_set_id]
        row = _ad(ad, creatives[ad.creative_id], group) | changed.get(ad.id, {})
        shown.append(_shown(row, "AD", (("CAMPAIGN", campaigns[ad.campaign_id]), ("ADGROUP", group))))
    return shown


def spelled_time(at: int) -> str:
    """An instant as TikTok writes it: UTC, without saying so."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _campaign(row: Campaign, lifetime_minor: int | None) -> Row:
    daily = {"budget_mode": "BUDGET_MODE_DAY", "budget": row.daily_budget_minor / 100}
    return {
        "campaign_id": row.id,
        "campaign_name": row.name,
        "advertiser_id": row.account_id,
        "objective_type": row.objective,
        "campaign_type": "REGULAR_CAMPAIGN",
        **(daily if lifetime_minor is None else {"budget_mode": "BUDGET_MODE_TOTAL", "budget": lifetime_minor / 100}),
        "operation_status": OPERATIONS[row.status],
        "create_time": spelled_time(row.created_at),
        "modify_time": spelled_time(row.updated_at),
    }


def _ad_group(row: AdSet, campaign: Row) -> Row:
    return {
        "adgroup_id": row.id,
        "adgroup_name": row.name,
        "campaign_id": row.campaign_id,
        "campaign_name": campaign["campaign_name"],
        "advertiser_id": row.account_id,
        "promotion_type": GOALS[campaign["objective_type"]],
        "optimization_goal": row.optimization_goal,
        "budget_mode": "BUDGET_MODE_DAY",
        "budget": row.daily_budget_minor / 100,
        "audience_ids": [],
        "pixel_id": PIXEL if row.optimization_goal == "CONVERT" else None,
        "operation_status": OPERATIONS[row.status],
        "create_time": spelled_time(row.created_at),
        "modify_time": spelled_time(row.updated_at),
    }


def _ad(row: Ad, creative: Creative, group: Row) -> Row:
    params = [dict(zip(("key", "value"), pair.split("=", 1), strict=True)) for pair in row.url_tags.split("&")]
    return {
        "ad_id": row.id,
        "ad_name": row.name,
        "adgroup_id": row.ad_set_id,
        "adgroup_name": group["adgroup_name"],
        "campaign_id": row.campaign_id,
        "campaign_name": group["campaign_name"],
        "advertiser_id": row.account_id,
        "ad_format": "SINGLE_VIDEO" if creative.video_id else "CAROUSEL_ADS",
        "ad_text": creative.body,
        "call_to_action": creative.call_to_action,
        "landing_page_url": row.landing_url,
        "video_id": creative.video_id,
        "image_ids": [] if creative.video_id else [f"p{place}{creative.id}" for place in range(3)],
        "utm_params": params,
        "operation_status": OPERATIONS[row.status],
        "create_time": spelled_time(row.created_at),
        "modify_time": spelled_time(row.updated_at),
    }


def _shown(row: Row, noun: str, above: tuple[tuple[str, Row], ...]) -> Row:
    """The row with the status that comes of its own and of those above it; what is deleted keeps no operation."""
    for word in ("DELETE", "DISABLE"):
        if row["operation_status"] == word:
            return _settled(row, f"{noun}_STATUS_{word}")
        for name, parent in above:
            if parent["operation_status"] == word:
                return _settled(row, f"{noun}_STATUS_{name}_{word}")
    return _settled(row, "CAMPAIGN_STATUS_ENABLE" if noun == "CAMPAIGN" else f"{noun}_STATUS_DELIVERY_OK")


def _settled(row: Row, secondary: str) -> Row:
    own = "DISABLE" if row["operation_status"] == "DELETE" else row["operation_status"]
    return {**row, "operation_status": own, "secondary_status": row.get("secondary_status", secondary)}
