"""What is asked of Google Ads, in its query language."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from connectors.ad_platform import Level

# what is claimed of purchases alone: a lead is another kind, and kinds are never added up
CLAIMED_CATEGORY = "PURCHASE"


def select(fields: Sequence[str], resource: str, *conditions: str) -> str:
    """A query for fields of a resource, under all conditions."""
    where = ["WHERE", " AND ".join(conditions)] if conditions else []
    return " ".join(["SELECT", ", ".join(fields), "FROM", resource, *where])


def of(resource: str, *names: str) -> tuple[str, ...]:
    """Fields of one resource."""
    return tuple(f"{resource}.{name}" for name in names)


def delivery(resource: str, since: date, until: date) -> str:
    """What each ad, or each asset group, was shown and cost on each day."""
    return _by_day(resource, of("metrics", "cost_micros", "impressions", "clicks"), since, until)


def claims(resource: str, since: date, until: date) -> str:
    """What Google claims of each of them and day; cost cannot be told beside a kind of conversion."""
    category = "segments.conversion_action_category"
    figures = (category, *of("metrics", "conversions", "conversions_value"))
    return _by_day(resource, figures, since, until, f"{category} = '{CLAIMED_CATEGORY}'")


def networks(since: date, until: date) -> str:
    """On which network each ad was shown on each day."""
    figures = ("segments.ad_network_type", *of("metrics", "cost_micros", "impressions"))
    return _by_day("ad_group_ad", figures, since, until)


def live(level: Level, platform_id: str) -> str:
    """One campaign, ad group or ad as it is now."""
    resource, number, fields = _LIVE[level]
    return select((*fields, *_ABOVE), resource, f"{number} = {platform_id}")


def _by_day(resource: str, figures: Sequence[str], since: date, until: date, *conditions: str) -> str:
    dates = f"segments.date BETWEEN '{since.isoformat()}' AND '{until.isoformat()}'"
    return select(("segments.date", "campaign.id", *DELIVERED[resource], *figures), resource, dates, *conditions)


# what delivers, with the ids that tell it
DELIVERED = {"ad_group_ad": ("ad_group.id", "ad_group_ad.ad.id"), "asset_group": ("asset_group.id",)}
_LINKS = ("final_url_suffix", "tracking_url_template")
_TEXTS = ("headlines", "descriptions")
_STATED = ("resource_name", "id", "name", "status", "primary_status")
_BUDGET = of("campaign_budget", "resource_name", "amount_micros", "total_amount_micros", "explicitly_shared")
_SHOWN = (
    *of("ad_group_ad.ad", "id", "name", "type", "final_urls", *_LINKS),
    *(field for resource in ("ad_group", "campaign", "customer") for field in of(resource, *_LINKS)),
    *of("ad_group_ad.ad.responsive_search_ad", *_TEXTS),
    *of("ad_group_ad.ad.responsive_display_ad", *_TEXTS),
    *of("ad_group_ad.ad.video_responsive_ad", *_TEXTS, "videos"),
)
_ABOVE = ("customer.id", "customer.currency_code", "campaign.status")
_LIVE = {
    "campaign": ("campaign", "campaign.id", (*of("campaign", *_STATED), *_BUDGET)),
    "ad_set": ("ad_group", "ad_group.id", of("ad_group", *_STATED)),
    "ad": (
        "ad_group_ad",
        "ad_group_ad.ad.id",
        (
            *of("ad_group_ad", "resource_name", "status", "primary_status"),
            *of("ad_group_ad.ad", "id", "name", "responsive_search_ad.headlines"),
        ),
    ),
}
ACCOUNT = select(of("customer", "id", "descriptive_name", "currency_code", "time_zone", "status"), "customer")
CAMPAIGNS = select(
    (
        *of("campaign", "id", "name", "status", "advertising_channel_type", "bidding_strategy_type"),
        *_BUDGET,
    ),
    "campaign",
)
AD_GROUPS = select((*of("ad_group", "id", "name", "status"), "campaign.id"), "ad_group")
ADS = select((*_SHOWN, "ad_group_ad.status", "ad_group.id", "campaign.id"), "ad_group_ad")
# campaigns of Performance Max have these instead of ad groups with ads
_GROUPED = (
    *of("asset_group", "id", "name", "status", "final_urls"),
    *(field for resource in ("campaign", "customer") for field in of(resource, *_LINKS)),
)
ASSET_GROUPS = select((*_GROUPED, "campaign.id"), "asset_group")
ENTITIES = {"campaign": CAMPAIGNS, "ad_group": AD_GROUPS, "ad": ADS, "asset_group": ASSET_GROUPS}
LINKED_ADS = select(
    (*_SHOWN, "campaign.name"),
    "ad_group_ad",
    *(f"{resource}.status != 'REMOVED'" for resource in ("ad_group_ad", "ad_group", "campaign")),
)
LINKED_ASSET_GROUPS = select(
    (*_GROUPED, "campaign.name"),
    "asset_group",
    *(f"{resource}.status != 'REMOVED'" for resource in ("asset_group", "campaign")),
)
CLIENTS = select(
    of("customer_client", "id", "descriptive_name", "currency_code", "time_zone", "status"),
    "customer_client",
    "customer_client.manager = FALSE",
)
