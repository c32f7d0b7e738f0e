"""From the Graph API's objects to rows of the inbound contracts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from connectors import figures
from connectors.ad_platform import Level, LinkedAd, LiveState, Row
from connectors.meta_audiences import shown_to, warmth

PLATFORM = "meta"
# of accounts whose ads may run: active, and in grace after a payment that failed
LIVE_ACCOUNTS = (1, 9)
# disabled, to be closed, closed: those that owe a payment or are looked into are not
CLOSED_ACCOUNTS = (2, 100, 101)
# one sale stands under several action types; this one counts each sale once, wherever it happened
CANONICAL_ACTION = "omni_purchase"
# minor units (ISO 4217) in one of Meta's units of a budget, where they differ
_BUDGET_STEPS = {**dict.fromkeys(("COP", "CRC", "HUF", "IDR", "TWD"), 100), **dict.fromkeys(("BHD", "JOD"), 10)}
_GROUPS = {
    "OUTCOME_SALES": "sales", "CONVERSIONS": "sales", "PRODUCT_CATALOG_SALES": "sales",
    "OUTCOME_LEADS": "leads", "LEAD_GENERATION": "leads", "MESSAGES": "messaging",
    "OUTCOME_TRAFFIC": "traffic", "LINK_CLICKS": "traffic",
    "OUTCOME_AWARENESS": "awareness", "BRAND_AWARENESS": "awareness", "REACH": "awareness",
    # engagement whose ad sets do not aim at conversations
    "OUTCOME_ENGAGEMENT": "awareness", "POST_ENGAGEMENT": "awareness", "VIDEO_VIEWS": "awareness",
}  # fmt: skip
# of a story, what has a link: `template_data` is filled in from a catalogue
_LINKING = ("link_data", "template_data")
# kinds of parts that Meta puts ads together from, and what tells them
_OF_PARTS = {
    "titles": "text", "bodies": "text", "descriptions": "text", "images": "hash", "videos": "video_id",
    "link_urls": "website_url",
}  # fmt: skip
_ACTIONS = {
    "video_3s_views": "video_view",
    "reactions": "post_reaction",
    "comments": "comment",
    "shares": "post",
    "saves": "onsite_conversion.post_save",
    "messaging_conversations_started_7d": "onsite_conversion.messaging_conversation_started_7d",
    "messaging_first_replies": "onsite_conversion.messaging_first_reply",
}


def ad_account(node: Row) -> Row:
    """An ad_accounts row."""
    return {
        "platform": PLATFORM,
        "ad_account_id": node["account_id"],
        "name": node.get("name"),
        "currency": node["currency"],
        "timezone": node["timezone_name"],
        "status": "ACTIVE" if node.get("account_status") in LIVE_ACCOUNTS else str(node.get("account_status", "")),
    }


def campaign(node: Row, talking: set[str], currency: str) -> Row:
    """A campaigns row; `talking` holds the campaigns whose ad sets aim at conversations."""
    objective = node.get("objective")
    group = "messaging" if node["id"] in talking else _GROUPS.get(str(objective))
    parents = {"campaign_id": node["id"], "ad_account_id": node["account_id"]}
    return _entity(node, parents) | budgets(node, currency) | {"objective": objective, "objective_group": group}


def ad_set(node: Row, currency: str, subtypes: Mapping[str, str]) -> Row:
    """An ad_sets row; `subtypes` are those of the account's custom audiences, by id."""
    own = {
        "ad_set_id": node["id"],
        "campaign_id": node["campaign_id"],
        "optimization_goal": node.get("optimization_goal"),
        "audience_warmth": warmth(node.get("targeting"), subtypes),
        "dataset_id": (node.get("promoted_object") or {}).get("pixel_id"),
    }
    return _entity(node, own) | budgets(node, currency)


def ad(node: Row, creatives: Mapping[str, Row]) -> Row:
    """An ads row; where it leads and how it is tagged stand in its creative."""
    shown = str((node.get("creative") or {}).get("id") or "") or None
    creative = creatives.get(shown or "", {})
    own = {
        "ad_id": node["id"],
        "ad_set_id": node["adset_id"],
        "campaign_id": node["campaign_id"],
        "creative_id": shown,
        "url_tags": creative.get("url_tags"),
        "landing_url": _landing(creative),
    }
    return _entity(node, own)


def creative(node: Row) -> Row:
    """A creatives row; `content_hash` changes exactly when something a person sees does."""
    feed = node.get("asset_feed_spec") or {}
    seen = {
        "format": _format(node),
        "video_id": node.get("video_id") or _first(feed, "videos"),
        "title": node.get("title") or _first(feed, "titles"),
        "body": node.get("body") or _first(feed, "bodies"),
        "call_to_action": node.get("call_to_action_type") or next(iter(feed.get("call_to_action_types") or []), None),
        "landing_url": _landing(node),
    }
    parts = {kind: _parts(feed, kind) for kind in _OF_PARTS if feed.get(kind)}
    digest = hashlib.sha256(json.dumps([seen, parts] if parts else seen, sort_keys=True).encode()).hexdigest()
    own = {"platform": PLATFORM, "creative_id": node["id"], "thumbnail_url": node.get("thumbnail_url")}
    return own | seen | {"content_hash": digest}


def delivery(row: Row) -> Row:
    """An ad_delivery row. Raises Malformed for a figure that is not a number.

    Meta leaves out what there is none of, so an absent count is 0; only video views of an ad without video are null.
    """
    actions, values = row.get("actions") or [], row.get("action_values") or []
    counted = {column: int(_action(actions, kind)) for column, kind in _ACTIONS.items()}
    has_video = bool(counted["video_3s_views"])
    return {
        "platform": PLATFORM,
        "ad_id": row["ad_id"],
        "date": date.fromisoformat(row["date_start"]),
        "ad_account_id": row["account_id"],
        "ad_set_id": row["adset_id"],
        "campaign_id": row["campaign_id"],
        "currency": row["account_currency"],
        "spend": figures.kept(number(row["spend"])),
        "impressions": int(number(row.get("impressions", "0"))),
        "clicks": int(number(row.get("clicks", "0"))),
        "link_clicks": int(number(row.get("inline_link_clicks", "0"))),
        "reach": int(number(row["reach"])) if "reach" in row else None,
        **counted,
        "video_3s_views": counted["video_3s_views"] if has_video else None,
        "video_15s_views": _long_views(row) if has_video else None,
        "platform_conversions": figures.kept(_action(actions, CANONICAL_ACTION)),
        "platform_conversion_value": figures.kept(_action(values, CANONICAL_ACTION)),
        "platform_basis": "click_view_modeled",
    }


def breakdown(row: Row, dimension: str) -> Row:
    """An ad_delivery_breakdowns row."""
    return {
        "platform": PLATFORM,
        "ad_id": row["ad_id"],
        "date": date.fromisoformat(row["date_start"]),
        "dimension": dimension,
        "value": shown_to(row, dimension),
        "impressions": int(number(row.get("impressions", "0"))),
        "spend": figures.kept(number(row["spend"])),
    }


def reach(row: Row, level: str, id_field: str) -> Row:
    """An entity_reach row."""
    return {
        "platform": PLATFORM,
        "level": level,
        "entity_id": row[id_field],
        "date_from": date.fromisoformat(row["date_start"]),
        "date_to": date.fromisoformat(row["date_stop"]),
        "reach": int(number(row["reach"])),
    }


def budget_step(currency: str) -> int:
    """How many minor units of a currency one unit of Meta's budgets is."""
    return _BUDGET_STEPS.get(currency, 1)


def budgets(node: Row, currency: str) -> dict[str, int | None]:
    """Both budgets in minor units; Meta writes 0 for the type that there is none of."""
    names = {"daily_budget": "daily_budget_minor", "lifetime_budget": "lifetime_budget_minor"}
    step = budget_step(currency)
    return {column: int(node[name]) * step if int(node.get(name) or 0) else None for name, column in names.items()}


def live_state(node: Row, level: Level, currency: str) -> LiveState:
    """What a campaign, ad set or ad is now, its campaign's status with it."""
    parent = node.get("campaign") or {}
    money = budgets(node, currency)
    return LiveState(
        level=level,
        platform_id=str(node["id"]),
        account_id=str(node["account_id"]),
        name=str(node["name"]),
        status=node.get("status") or None,
        effective_status=node.get("effective_status") or None,
        campaign_statuses=(parent.get("status"), parent.get("effective_status")) if parent else (),
        currency=currency,
        budget_step_minor=budget_step(currency),
        **money,
    )


def linked_ad(node: Row) -> LinkedAd:
    """Where an ad leads, from the ad with its creative and campaign in it."""
    creative = node.get("creative") or {}
    tags = str(creative.get("url_tags") or "").strip()
    return LinkedAd(node["id"], node["name"], node["campaign"]["name"], _landing(creative), tags or None)


def number(text: object) -> Decimal:
    """A figure as Meta writes it. Raises Malformed unless it is a finite number of a sane size."""
    return figures.number(PLATFORM, text)


def _action(actions: Iterable[Mapping[str, Any]], kind: str) -> Decimal:
    return next((number(action["value"]) for action in actions if action["action_type"] == kind), Decimal(0))


def totals(row: Row, kind: str) -> Decimal:
    """How often an insights row counts one type of action."""
    return _action(row.get("actions") or [], kind)


def _long_views(row: Row) -> int:
    return int(_action(row.get("video_thruplay_watched_actions") or [], "video_view"))


def _entity(node: Row, own: Row) -> Row:
    times = {"created_at": _time(node.get("created_time")), "updated_at": _time(node.get("updated_time"))}
    return {"platform": PLATFORM, **own, "name": node["name"], "status": node["status"], **times}


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def _format(node: Row) -> str:
    story, feed = node.get("object_story_spec") or {}, node.get("asset_feed_spec") or {}
    forms = " ".join(map(str, feed.get("ad_formats") or []))
    if node.get("video_id") or "video_data" in story or (feed.get("videos") and "CAROUSEL" not in forms):
        return "video"
    # of a post that was there before, Meta tells what it is, and no story
    kind = str(node.get("object_type", ""))
    if kind == "VIDEO":
        return "video"
    if "collection" in kind.lower():
        return "collection"
    cards = any((story.get(name) or {}).get("child_attachments") for name in _LINKING)
    return "carousel" if cards or "CAROUSEL" in forms else "image"


def _landing(node: Mapping[str, Any]) -> str | None:
    story = node.get("object_story_spec") or {}
    action = (story.get("video_data") or {}).get("call_to_action") or {}
    links = [(story.get(name) or {}).get("link") for name in _LINKING]
    told = [*links, (action.get("value") or {}).get("link"), _first(node.get("asset_feed_spec") or {}, "link_urls")]
    return next((str(link) for link in told if link), None)


def _first(feed: Mapping[str, Any], kind: str) -> str | None:
    return next(iter(_parts(feed, kind)), None)


def _parts(feed: Mapping[str, Any], kind: str) -> list[str]:
    """What a creative holds of a kind for Meta to choose from, without addresses that are signed anew."""
    return [str(part[_OF_PARTS[kind]]) for part in feed.get(kind) or [] if part.get(_OF_PARTS[kind])]
