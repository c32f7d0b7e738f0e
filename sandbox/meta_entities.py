"""The Marketing API's objects: account, campaigns, ad sets, ads and creatives, as the Graph API spells them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from sandbox.ad_breakdowns import COUNTRIES
from sandbox.ads import Ad, AdAccount, AdSet, Audience, Campaign, Creative
from sandbox.world import World

Row = dict[str, Any]
HIDDEN_UNLESS_ASKED = {"ARCHIVED", "DELETED"}


def account(row: AdAccount) -> Row:
    """The ad account node."""
    return {
        "id": f"act_{row.id}",
        "account_id": row.id,
        "name": row.name,
        "currency": row.currency,
        "timezone_name": row.time_zone,
        "account_status": 1 if row.status == "ACTIVE" else 2,
    }


def edge(world: World, account_id: str, name: str) -> list[Row]:
    """All rows of one edge (campaigns, adsets, ads, adcreatives, customaudiences) of an account, oldest first."""
    if name == "adcreatives":
        tags = {ad.creative_id: ad.url_tags for ad in world.ads}
        return [_creative(row, tags.get(row.id, "")) for row in world.creatives if row.account_id == account_id]
    if name == "customaudiences":
        return [_audience(row) for row in world.tree.audiences if row.account_id == account_id]
    rows, spell = _EDGES[name]
    return [spell(row) for row in rows(world) if row.account_id == account_id]


def _campaign(row: Campaign) -> Row:
    return {
        "id": row.id,
        "account_id": row.account_id,
        "name": row.name,
        "status": row.status,
        "effective_status": row.status,
        "objective": row.objective,
        "daily_budget": str(row.daily_budget_minor),
        "created_time": spelled_time(row.created_at),
        "updated_time": spelled_time(row.updated_at),
    }


def _ad_set(row: AdSet) -> Row:
    return {
        "id": row.id,
        "account_id": row.account_id,
        "campaign_id": row.campaign_id,
        "name": row.name,
        "status": row.status,
        "effective_status": row.status,
        "optimization_goal": row.optimization_goal,
        "targeting": _targeting(row),
        "daily_budget": str(row.daily_budget_minor),
        "created_time": spelled_time(row.created_at),
        "updated_time": spelled_time(row.updated_at),
    }


def _targeting(row: AdSet) -> Row:
    shown: Row = {"age_min": 18, "age_max": 65, "geo_locations": {"countries": [COUNTRIES[row.account_id][0]]}}
    return shown | ({"custom_audiences": [{"id": row.audience_id}]} if row.audience_id else {})


def _audience(row: Audience) -> Row:
    return {"id": row.id, "account_id": row.account_id, "name": row.name, "subtype": row.subtype}


def _ad(row: Ad) -> Row:
    return {
        "id": row.id,
        "account_id": row.account_id,
        "campaign_id": row.campaign_id,
        "adset_id": row.ad_set_id,
        "name": row.name,
        "status": row.status,
        "effective_status": row.status,
        "creative": {"id": row.creative_id},
        "created_time": spelled_time(row.created_at),
        "updated_time": spelled_time(row.updated_at),
    }


def _creative(row: Creative, tags: str) -> Row:
    link = {"link": row.landing_url, "message": row.body, "name": row.title}
    story: Row = {"page_id": "100000000000001"}
    if row.format == "video":
        action = {"type": row.call_to_action, "value": {"link": row.landing_url}}
        story["video_data"] = {"video_id": row.video_id, "title": row.title, "call_to_action": action}
    elif row.format == "carousel":
        story["link_data"] = {**link, "child_attachments": [{"link": row.landing_url}] * 3}
    else:
        story["link_data"] = {**link, "call_to_action": {"type": row.call_to_action}}
    spelled: Row = {
        "id": row.id,
        "account_id": row.account_id,
        "name": row.title,
        "title": row.title,
        "body": row.body,
        "object_type": "VIDEO" if row.format == "video" else "SHARE",
        "call_to_action_type": row.call_to_action,
        "thumbnail_url": row.thumbnail_url,
        "object_story_spec": story,
        "url_tags": tags,
    }
    if row.video_id:
        spelled["video_id"] = row.video_id
    return spelled


def spelled_time(at: int) -> str:
    """An instant as the Graph API writes it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S+0000")


_EDGES: dict[str, tuple[Callable[[World], Iterable[Any]], Callable[[Any], Row]]] = {
    "campaigns": (lambda world: world.campaigns, _campaign),
    "adsets": (lambda world: world.ad_sets, _ad_set),
    "ads": (lambda world: world.ads, _ad),
}
