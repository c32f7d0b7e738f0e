"""From the Google Ads API's rows to rows of the inbound contracts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from connectors import figures
from connectors.ad_platform import Level, LinkedAd, LiveState, Row
from connectors.errors import Malformed
from connectors.google_dialect import PROVIDER
from connectors.google_links import landing, url_tags

PLATFORM = PROVIDER
STATUSES = {"ENABLED": "ACTIVE", "ELIGIBLE": "ACTIVE", "REMOVED": "DELETED"}
# what each level is called in rows, and of what collection it is
NOUNS: dict[Level, tuple[str, str]] = {
    "campaign": ("campaign", "campaigns"),
    "ad_set": ("adGroup", "adGroups"),
    "ad": ("adGroupAd", "adGroupAds"),
}
_MICROS = Decimal(1_000_000)
# texts alone, as most search ads are, are none of the forms that creatives have here
_FORMATS = {
    **dict.fromkeys((
        "IMAGE_AD", "RESPONSIVE_DISPLAY_AD", "LEGACY_RESPONSIVE_DISPLAY_AD", "DEMAND_GEN_MULTI_ASSET_AD",
        "HTML5_UPLOAD_AD", "DYNAMIC_HTML5_AD",
    ), "image"),
    **dict.fromkeys((
        "VIDEO_AD", "VIDEO_RESPONSIVE_AD", "DEMAND_GEN_VIDEO_RESPONSIVE_AD", "IN_FEED_VIDEO_AD", "VIDEO_BUMPER_AD",
        "VIDEO_TRUEVIEW_IN_STREAM_AD", "VIDEO_NON_SKIPPABLE_IN_STREAM_AD", "VIDEO_OUTSTREAM_AD",
    ), "video"),
    "DEMAND_GEN_CAROUSEL_AD": "carousel",
    **dict.fromkeys((
        "SHOPPING_PRODUCT_AD", "SHOPPING_SMART_AD", "SHOPPING_COMPARISON_LISTING_AD", "DEMAND_GEN_PRODUCT_AD",
    ), "collection"),
}  # fmt: skip
_GOALS = {
    **dict.fromkeys(("TARGET_CPA", "TARGET_ROAS", "MAXIMIZE_CONVERSIONS", "MAXIMIZE_CONVERSION_VALUE"), "sales"),
    **dict.fromkeys(("TARGET_SPEND", "MANUAL_CPC"), "traffic"),
    **dict.fromkeys(("TARGET_CPM", "MANUAL_CPM", "TARGET_IMPRESSION_SHARE", "TARGET_CPV", "MANUAL_CPV"), "awareness"),
}


def ad_account(row: Row) -> Row:
    """An ad_accounts row."""
    customer = row["customer"]
    return {
        "platform": PLATFORM,
        "ad_account_id": _id(customer),
        "name": customer.get("descriptiveName"),
        "currency": customer["currencyCode"],
        "timezone": customer["timeZone"],
        "status": _status_or_none(customer.get("status")),
    }


def campaign(row: Row, account_id: str, currency: str) -> Row:
    """A campaigns row; what its bidding strives for stands for its objective, which Google does not tell."""
    node = row["campaign"]
    own = {"campaign_id": _id(node), "ad_account_id": account_id}
    objective = {
        "objective": node.get("advertisingChannelType"),
        "objective_group": _GOALS.get(str(node.get("biddingStrategyType"))),
    }
    return _entity(node, own) | budgets(row, currency) | objective


def ad_set(row: Row) -> Row:
    """An ad_sets row: an ad group, which has no budget of its own."""
    node = row["adGroup"]
    return _entity(node, {"ad_set_id": _id(node), "campaign_id": _id(row["campaign"])})


def asset_group(row: Row) -> tuple[Row, Row]:
    """The ad_sets and the ads row of an asset group, which is both: Google tells nothing of what is shown of it."""
    node, campaign_id = row["assetGroup"], _id(row["campaign"])
    own = _entity(node, {"ad_set_id": _id(node), "campaign_id": campaign_id})
    shown = {"creative_id": None, "url_tags": url_tags(row), "landing_url": landing(node)}
    return own, {**own, "ad_id": _id(node), **shown}


def ad(row: Row) -> Row:
    """An ads row. Few ads of Google's have a name: the first headline, or the id, stands for one."""
    node, shown = row["adGroupAd"], row["adGroupAd"]["ad"]
    return {
        "platform": PLATFORM,
        "ad_id": _id(shown),
        "ad_set_id": _id(row["adGroup"]),
        "campaign_id": _id(row["campaign"]),
        "creative_id": _id(shown) if form(shown) else None,
        "name": ad_name(shown),
        "status": _status_or_none(node["status"]),
        "url_tags": url_tags(row),
        "landing_url": landing(shown),
    }


def creative(row: Row) -> Row | None:
    """A creatives row, None for an ad of texts alone; `content_hash` changes when something a person sees does."""
    shown = row["adGroupAd"]["ad"]
    if form(shown) is None:
        return None
    seen = {
        "format": form(shown),
        "video_id": _video(shown),
        "title": next(iter(_texts(shown, "headlines")), None),
        "body": next(iter(_texts(shown, "descriptions")), None),
        "landing_url": landing(shown),
    }
    digest = hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
    return {"platform": PLATFORM, "creative_id": _id(shown), **seen, "content_hash": digest}


def delivery(row: Row, account_id: str, currency: str) -> Row:
    """An ad_delivery row without claims; Google tells neither reach nor what people did beside clicking."""
    metrics = row["metrics"]
    return {
        "platform": PLATFORM,
        "ad_id": ad_id(row),
        "date": day(row),
        "ad_account_id": account_id,
        "ad_set_id": _id(row.get("assetGroup") or row["adGroup"]),
        "campaign_id": _id(row["campaign"]),
        "currency": currency,
        "spend": amount(metrics.get("costMicros", 0)),
        "impressions": count(metrics.get("impressions", 0)),
        "clicks": count(metrics.get("clicks", 0)),
        "platform_conversions": Decimal(0),
        "platform_conversion_value": Decimal(0),
        "platform_basis": "click_view_modeled",
    }


def claims(row: Row) -> dict[str, Decimal]:
    """What Google claims of one ad-day, as columns of its ad_delivery row."""
    metrics = row["metrics"]
    return {
        "platform_conversions": fraction(metrics.get("conversions", 0)),
        "platform_conversion_value": fraction(metrics.get("conversionsValue", 0)),
    }


def breakdown(row: Row) -> Row:
    """An ad_delivery_breakdowns row of one network."""
    return {
        "platform": PLATFORM,
        "ad_id": ad_id(row),
        "date": day(row),
        "dimension": "placement",
        "value": f"google_{str(row['segments']['adNetworkType']).lower()}",
        "impressions": count(row["metrics"].get("impressions", 0)),
        "spend": amount(row["metrics"].get("costMicros", 0)),
    }


def budgets(row: Row, currency: str) -> dict[str, int | None]:
    """Both budgets of a campaign in minor units; none of its own where several campaigns share one."""
    found: dict[str, int | None] = {"daily_budget_minor": None, "lifetime_budget_minor": None}
    node = row.get("campaignBudget") or {}
    if not node.get("explicitlyShared"):
        for name, column in (("amountMicros", "daily_budget_minor"), ("totalAmountMicros", "lifetime_budget_minor")):
            micros = count(node.get(name) or 0)
            found[column] = micros * 10 ** figures.digits(currency) // int(_MICROS) or None
    return found


def spelled_micros(amount_minor: int, currency: str) -> str:
    """Minor units as Google writes an amount."""
    return str(amount_minor * int(_MICROS) // 10 ** figures.digits(currency))


def live_state(row: Row, level: Level) -> LiveState:
    """What a campaign, ad group or ad is now, its campaign's status with it."""
    node, parent, currency = row[NOUNS[level][0]], row["campaign"], str(row["customer"]["currencyCode"])
    shown = node["ad"] if level == "ad" else node
    # what is below a campaign has no budget, and is told without one
    money = budgets(row, currency)
    return LiveState(
        level=level,
        platform_id=str(shown["id"]),
        account_id=str(row["customer"]["id"]),
        name=ad_name(shown) if level == "ad" else str(node["name"]),
        status=_status_or_none(node.get("status")),
        effective_status=_status_or_none(node.get("primaryStatus")),
        campaign_statuses=() if level == "campaign" else tuple(map(_status_or_none, (parent.get("status"),))),
        currency=currency,
        daily_budget_minor=money["daily_budget_minor"],
        lifetime_budget_minor=money["lifetime_budget_minor"],
    )


def linked_ad(row: Row) -> LinkedAd:
    """Where an ad, or an asset group, leads, with what Google appends to it."""
    name, group = str(row["campaign"].get("name") or ""), row.get("assetGroup")
    if group:
        return LinkedAd(str(group["id"]), str(group["name"]), name, landing(group), url_tags(row), is_asset_group=True)
    shown = row["adGroupAd"]["ad"]
    return LinkedAd(str(shown["id"]), ad_name(shown), name, landing(shown), url_tags(row))


def ad_name(shown: Mapping[str, Any]) -> str:
    """Its name, else its first headline, else its id."""
    return str(shown.get("name") or next(iter(_texts(shown, "headlines")), None) or f"Ad {shown['id']}")


def form(shown: Mapping[str, Any]) -> str | None:
    """Which of our forms of a creative an ad has, None for one of texts alone."""
    return _FORMATS.get(str(shown.get("type")))


def status(text: object) -> str:
    """A status in the words all platforms share here; what they have none for stays Google's."""
    return STATUSES.get(str(text), str(text))


def ad_id(row: Row) -> str | None:
    """The ad, or the asset group, that a row is about."""
    return _id(row.get("assetGroup") or row["adGroupAd"]["ad"])


def day(row: Row) -> date:
    """The day of the account that a row is about."""
    return date.fromisoformat(row["segments"]["date"])


def amount(micros: object) -> Decimal:
    """Millionths of a currency as an amount, to the fourth decimal, which is all that is kept."""
    return figures.kept(Decimal(count(micros)) / _MICROS)


def fraction(text: object) -> Decimal:
    """A figure with decimals. Raises Malformed unless it is a finite number of a sane size."""
    return figures.kept(figures.number(PROVIDER, text))


def count(text: object) -> int:
    """A whole figure, which REST writes as text. Raises Malformed for anything else."""
    written = str(text)
    if not written.removeprefix("-").isdecimal() or not written.isascii() or len(written) > figures.LONGEST_FIGURE:
        raise Malformed(PROVIDER, "a count that is not a whole number")
    return int(written)


def _status_or_none(text: object) -> str | None:
    return status(text) if text else None


def _id(node: Mapping[str, Any]) -> str | None:
    """An id, which REST writes as text; None stays none, for the judge of the rows to refuse."""
    return None if node["id"] is None else str(node["id"])


def _entity(node: Row, own: Row) -> Row:
    return {"platform": PLATFORM, **own, "name": node["name"], "status": _status_or_none(node["status"])}


def _texts(shown: Mapping[str, Any], kind: str) -> Iterable[str]:
    """Texts of a kind, whatever the ad's own type is called."""
    for node in shown.values():
        found = node.get(kind) if isinstance(node, dict) else None
        yield from (str(one["text"]) for one in found or [] if one.get("text"))


def _video(shown: Mapping[str, Any]) -> str | None:
    for node in shown.values():
        found = node.get("videos") if isinstance(node, dict) else None
        for one in found or []:
            return str(one["asset"]).rpartition("/")[2]
    return None
