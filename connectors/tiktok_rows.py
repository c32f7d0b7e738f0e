"""From what TikTok's API for Business tells to rows of the inbound contracts, and to live states."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from connectors import figures
from connectors.ad_platform import Level, LinkedAd, LiveState, Row
from connectors.errors import Malformed

PLATFORM = "tiktok"
NOUNS: Mapping[Level, str] = {"campaign": "campaign", "ad_set": "adgroup", "ad": "ad"}
_STATUSES = {"ENABLE": "ACTIVE", "DISABLE": "PAUSED", "DELETE": "DELETED"}
_BUDGETS = {
    "BUDGET_MODE_DAY": "daily_budget_minor",
    "BUDGET_MODE_DYNAMIC_DAILY_BUDGET": "daily_budget_minor",
    "BUDGET_MODE_TOTAL": "lifetime_budget_minor",
}
_GROUPS = {
    **dict.fromkeys(("WEB_CONVERSIONS", "CONVERSIONS", "PRODUCT_SALES", "CATALOG_SALES", "SHOP_PURCHASES"), "sales"),
    "LEAD_GENERATION": "leads",
    "TRAFFIC": "traffic",
    **dict.fromkeys(("REACH", "RF_REACH", "VIDEO_VIEWS", "ENGAGEMENT"), "awareness"),
}
_TALKING = "CONVERSATION"
_UNKNOWN = (None, "", "-")


def ad_account(node: Row) -> Row:
    """An ad_accounts row."""
    return {
        "platform": PLATFORM,
        "ad_account_id": node["advertiser_id"],
        "name": node.get("name"),
        "currency": node["currency"],
        "timezone": zone(node),
        "status": "ACTIVE" if node.get("status") == "STATUS_ENABLE" else str(node.get("status", "")),
    }


def zone(node: Row) -> str:
    """The zone of an account's days: the named one where it is told, else the offset, which is one too."""
    return str(node.get("display_timezone") or node["timezone"])


def campaign(node: Row, talking: set[str], currency: str) -> Row:
    """A campaigns row; `talking` holds the campaigns whose ad groups aim at conversations."""
    objective = node.get("objective_type")
    group = "messaging" if node["campaign_id"] in talking else _GROUPS.get(str(objective))
    own = {"campaign_id": node["campaign_id"], "ad_account_id": node["advertiser_id"]}
    return _entity(node, "campaign", own) | budgets(node, currency) | {"objective": objective, "objective_group": group}


def is_talking(node: Row) -> bool:
    """Whether an ad group aims at conversations."""
    return node.get("optimization_goal") == _TALKING


def ad_set(node: Row, currency: str) -> Row:
    """An ad_sets row."""
    own = {
        "ad_set_id": node["adgroup_id"],
        "campaign_id": node["campaign_id"],
        "optimization_goal": node.get("optimization_goal"),
        "audience_warmth": _warmth(node),
        "dataset_id": node.get("pixel_id"),
    }
    return _entity(node, "ad_set", own) | budgets(node, currency)


def ad(node: Row) -> Row:
    """An ads row; at TikTok an ad is its own creative."""
    own = {
        "ad_id": node["ad_id"],
        "ad_set_id": node["adgroup_id"],
        "campaign_id": node["campaign_id"],
        "creative_id": node["ad_id"],
        "url_tags": _tags(node),
        "landing_url": node.get("landing_page_url") or None,
    }
    return _entity(node, "ad", own)


def creative(node: Row) -> Row:
    """A creatives row; `content_hash` changes exactly when something a person sees does."""
    seen = {
        "format": _format(node),
        "video_id": node.get("video_id"),
        "body": node.get("ad_text"),
        "call_to_action": node.get("call_to_action"),
        "landing_url": node.get("landing_page_url") or None,
    }
    digest = hashlib.sha256(json.dumps([seen, node.get("image_ids")], sort_keys=True).encode()).hexdigest()
    return {"platform": PLATFORM, "creative_id": node["ad_id"], **seen, "content_hash": digest}


def delivery(row: Row, account_id: str, currency: str) -> Row:
    """An ad_delivery row. Raises Malformed for a figure that is not a number.

    Views of 2 and 6 seconds are none of the contract's, so its columns of views stay null.
    """
    told, about = row["metrics"], row["dimensions"]
    return {
        "platform": PLATFORM,
        "ad_id": about["ad_id"],
        "date": day(about),
        "ad_account_id": account_id,
        "ad_set_id": told["adgroup_id"],
        "campaign_id": told["campaign_id"],
        "currency": currency,
        "spend": figures.kept(number(told["spend"])),
        "impressions": int(number(told["impressions"])),
        "clicks": int(number(told["clicks"])),
        "reach": _known(told.get("reach")),
        "reactions": _known(told.get("likes")),
        "comments": _known(told.get("comments")),
        "shares": _known(told.get("shares")),
        "platform_conversions": _claim(told["complete_payment"]),
        "platform_conversion_value": _claim(told["total_complete_payment_rate"]),
        "platform_basis": "click_view_modeled",
    }


def by_country(row: Row) -> Row:
    """An ad_delivery_breakdowns row."""
    told, about = row["metrics"], row["dimensions"]
    return {
        "platform": PLATFORM,
        "ad_id": about["ad_id"],
        "date": day(about),
        "dimension": "geo",
        "value": str(about.get("country_code") or "unknown").lower(),
        "impressions": int(number(told["impressions"])),
        "spend": figures.kept(number(told["spend"])),
    }


def reach(row: Row, level: Level, since: date, until: date) -> Row | None:
    """An entity_reach row; None where TikTok does not know the reach."""
    told = _known(row["metrics"]["reach"])
    if told is None:
        return None
    return {
        "platform": PLATFORM,
        "level": level,
        "entity_id": row["dimensions"][f"{NOUNS[level]}_id"],
        "date_from": since,
        "date_to": until,
        "reach": told,
    }


def day(about: Row) -> date:
    """The account's day that a report's row is about."""
    return datetime.strptime(about["stat_time_day"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).date()


def budgets(node: Row, currency: str) -> dict[str, int | None]:
    """Both budgets in minor units; an object has one of them, or none where the level above or below has it."""
    found: dict[str, int | None] = {"daily_budget_minor": None, "lifetime_budget_minor": None}
    column, amount = _BUDGETS.get(str(node.get("budget_mode"))), number(node.get("budget") or 0)
    if column and amount:
        minor = amount.scaleb(figures.digits(currency))
        if minor != int(minor):
            raise Malformed(PLATFORM, "a budget finer than its currency")
        found[column] = int(minor)
    return found


def spelled_budget(amount_minor: int, currency: str) -> int | float:
    """A budget as TikTok takes it: a JSON number of whole units."""
    amount = Decimal(amount_minor).scaleb(-figures.digits(currency))
    return int(amount) if amount == int(amount) else float(amount)


def live_state(node: Row, level: Level, campaign: Row, currency: str) -> LiveState:
    """What a campaign, ad set or ad is now; `campaign` is the one it is in, itself for a campaign."""
    above = () if level == "campaign" else (status(campaign, "campaign"), effective(campaign, "campaign"))
    money: dict[str, Any] = {"daily_budget_minor": None, "lifetime_budget_minor": None}
    return LiveState(
        level=level,
        platform_id=str(node[f"{NOUNS[level]}_id"]),
        account_id=str(node["advertiser_id"]),
        name=str(node[f"{NOUNS[level]}_name"]),
        status=status(node, level),
        effective_status=effective(node, level),
        campaign_statuses=above,
        currency=currency,
        **(money if level == "ad" else budgets(node, currency)),
    )


def status(node: Row, level: Level) -> str | None:
    """What somebody set it to, in the words that all platforms share; None where TikTok told none."""
    if node.get("secondary_status") == f"{_prefix(level)}_DELETE":
        return "DELETED"
    told = node.get("operation_status")
    return _STATUSES.get(str(told), str(told)) if told else None


def effective(node: Row, level: Level) -> str | None:
    """What comes of it and of what is above it; TikTok's own word where no shared one says as much."""
    told = str(node.get("secondary_status") or "")
    if told.endswith("_DELETE"):
        return "DELETED"
    words = {
        f"{_prefix(level)}_DISABLE": "PAUSED",
        f"{_prefix(level)}_CAMPAIGN_DISABLE": "CAMPAIGN_PAUSED",
        f"{_prefix(level)}_ADGROUP_DISABLE": "ADSET_PAUSED",
        f"{_prefix(level)}_ENABLE": "ACTIVE",
        f"{_prefix(level)}_DELIVERY_OK": "ACTIVE",
    }
    return words.get(told, told) or None


def linked_ad(node: Row) -> LinkedAd:
    """Where an ad leads."""
    landing = node.get("landing_page_url") or None
    return LinkedAd(node["ad_id"], node["ad_name"], str(node.get("campaign_name") or ""), landing, _tags(node))


def number(text: object) -> Decimal:
    """A figure as TikTok writes it. Raises Malformed unless it is a finite number of a sane size."""
    return figures.number(PLATFORM, text)


def _known(text: object) -> int | None:
    """A count, or None for one that TikTok does not know, which it writes as a dash."""
    return None if text in _UNKNOWN else int(number(text))


def _claim(text: object) -> Decimal | None:
    """The same of what TikTok claims: a figure that it does not know is not 0."""
    return None if text in _UNKNOWN else figures.kept(number(text))


def _entity(node: Row, level: Level, own: Row) -> Row:
    times = {"created_at": _time(node.get("create_time")), "updated_at": _time(node.get("modify_time"))}
    told = {"name": node[f"{NOUNS[level]}_name"], "status": status(node, level) or "UNKNOWN"}
    return {"platform": PLATFORM, **own, **told, **times}


def _prefix(level: Level) -> str:
    return f"{NOUNS[level].upper()}_STATUS"


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def _warmth(node: Row) -> str | None:
    """Cold without an audience of the advertiser's own; of what kind one is, the ad group does not tell."""
    chosen = node.get("audience_ids") or node.get("shopping_ads_retargeting_type") not in (None, "", "OFF")
    return None if chosen else "cold"


def _format(node: Row) -> str:
    told = str(node.get("ad_format") or "")
    if "CAROUSEL" in told:
        return "carousel"
    return "video" if node.get("video_id") or "VIDEO" in told else "image"


def _tags(node: Row) -> str | None:
    """The parameters that TikTok appends, without those that stand in the landing URL already."""
    there = {name for name, _ in parse_qsl(urlsplit(node.get("landing_page_url") or "").query, keep_blank_values=True)}
    return "&".join(_spelled(node.get("utm_params") or [], there)) or None


def _spelled(params: Iterable[Mapping[str, Any]], there: set[str]) -> Iterable[str]:
    for one in params:
        if one["key"] not in there:
            yield f"{quote(str(one['key']))}={quote(str(one['value']))}"
