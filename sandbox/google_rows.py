"""The world as rows of the Google Ads API: every resource with those above it, nested and spelled as REST does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sandbox.ads import Ad, AdAccount, AdSet, Campaign, Creative, Delivery
from sandbox.gaql import BadQuery, Query
from sandbox.google_live import Live
from sandbox.google_world import ASSETS, CUSTOMERS, MANAGER, PARTS, SHARED_BUDGET, SUFFIX, TEMPLATES, Holdings

Row = dict[str, Any]
_LINKS = ("final_url_suffix", "tracking_url_template")
_STATED = ("resource_name", "id", "name", "status", "primary_status", *_LINKS)
_AD = (
    "id", "name", "type", "final_urls", *_LINKS,
    *(f"{kind}.{text}" for kind in ("responsive_search_ad", "responsive_display_ad", "video_responsive_ad")
      for text in ("headlines", "descriptions")),
    "video_responsive_ad.videos",
)  # fmt: skip
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "customer": ("id", "descriptive_name", "currency_code", "time_zone", "status", *_LINKS),
    "customer_client": ("id", "descriptive_name", "currency_code", "time_zone", "status", "manager"),
    "campaign": (*_STATED, "advertising_channel_type", "bidding_strategy_type"),
    "campaign_budget": ("resource_name", "amount_micros", "total_amount_micros", "explicitly_shared"),
    "ad_group": _STATED,
    "ad_group_ad": ("resource_name", "status", "primary_status", *(f"ad.{name}" for name in _AD)),
    "asset_group": (*_STATED[:5], "final_urls"),
    "segments": ("date", "ad_network_type", "conversion_action_category"),
    "metrics": ("cost_micros", "impressions", "clicks", "conversions", "conversions_value"),
}
# what may be selected beside each resource
_BESIDE = {
    "customer": ("customer",),
    "customer_client": ("customer_client", "customer"),
    "campaign": ("campaign", "campaign_budget", "customer"),
    "ad_group": ("ad_group", "campaign", "customer"),
    "ad_group_ad": ("ad_group_ad", "ad_group", "campaign", "customer", "segments", "metrics"),
    "asset_group": ("asset_group", "campaign", "customer", "segments", "metrics"),
}
_CATEGORY = "segments.conversion_action_category"


def checked(query: Query) -> None:
    """Raise BadQuery for a field that Google would refuse, alone or beside the others."""
    known = {f"{name}.{field}" for name in _BESIDE.get(query.resource, ()) for field in _FIELDS[name]}
    for name in (*query.fields, *(name for name, *_ in query.conditions)):
        if name not in known:
            raise BadQuery("UNRECOGNIZED_FIELD", f"Unrecognized field in the query: '{name}'.")
    split = _CATEGORY in query.fields
    whole = {"metrics.cost_micros", "metrics.impressions", "metrics.clicks"} & {*query.fields}
    if split and whole:
        code = "PROHIBITED_SEGMENT_WITH_METRIC_IN_SELECT_OR_WHERE_CLAUSE"
        raise BadQuery(code, f"Cannot select {sorted(whole)} with '{_CATEGORY}'.")
    if query.asked("metrics.") and ("segments.date" not in query.fields or query.dates() is None):
        raise BadQuery("EXPECTED_FILTERS_ON_DATE_RANGE", "The sandbox reports by day and between two dates only.")


def entities(holdings: Holdings, live: Live, customer: AdAccount, resource: str) -> Iterator[Row]:
    """Every row of a resource of one customer."""
    if resource == "customer_client":
        below = CUSTOMERS[1:] if customer is MANAGER else (customer,)
        # a manager is one of its own clients
        for row in (*below, *((MANAGER,) if customer is MANAGER else ())):
            yield {"customer": _customer(customer), "customerClient": {**_customer(row), "manager": row is MANAGER}}
    elif resource == "customer":
        yield {"customer": _customer(customer)}
    elif customer is not MANAGER:
        own: Iterator[Any] = (row for row in _KINDS[resource](holdings) if row.account_id == customer.id)
        for row in own:
            yield _nested(holdings, live, customer, row)


def delivered(query: Query, found: Iterator[Delivery], ads: Mapping[str, Row]) -> Iterator[Row]:
    """Ad-days with the segments asked for, and the ad with all above it in each; those of no such ad are left out."""
    for row in found:
        if row.ad_id not in ads:
            continue
        base = {**ads[row.ad_id], "segments": {"date": row.day.isoformat()}}
        if query.asked("segments.conversion_action_category"):
            claims = (("PURCHASE", row.claimed_purchases, row.claimed_value_minor),
                      ("SUBMIT_LEAD_FORM", row.claimed_leads, 0))  # fmt: skip
            for category, parts, minor in claims:
                told = {"conversions": parts / PARTS, "conversionsValue": minor / 100}
                segments = {**base["segments"], "conversionActionCategory": category}
                if parts or minor:
                    yield {**base, "segments": segments, "metrics": told}
        elif query.asked("segments.ad_network_type"):
            for network, share in (("SEARCH", 4), ("SEARCH_PARTNERS", 1)):
                yield {**base, "segments": {**base["segments"], "adNetworkType": network}, "metrics": _part(row, share)}
        else:
            yield {**base, "metrics": _part(row, 5)}


def _part(row: Delivery, fifths: int) -> Row:
    """Some fifths of an ad-day; the four of them have what rounding leaves."""

    def part(total: int) -> int:
        return total if fifths == 5 else total // 5 if fifths == 1 else total - total // 5

    figures = {"costMicros": row.spend_minor * 10_000, "impressions": row.impressions, "clicks": row.clicks}
    told: Row = {name: str(part(total)) for name, total in figures.items()}
    # all kinds of claims in one figure, as Google tells them unless it is asked to split
    claims = (row.claimed_purchases + row.claimed_leads) / PARTS
    return {**told, "conversions": claims, "conversionsValue": row.claimed_value_minor / 100}


def _customer(row: AdAccount) -> Row:
    return {
        "resourceName": f"customers/{row.id}",
        "id": row.id,
        "descriptiveName": row.name,
        "currencyCode": row.currency,
        "timeZone": row.time_zone,
        "status": "ENABLED",
    }


def _nested(holdings: Holdings, live: Live, customer: AdAccount, row: Campaign | AdSet | Ad) -> Row:
    """A row with everything above it; what somebody changed is laid over it."""
    if isinstance(row, Campaign):
        plan = holdings.plans[row.id]
        node = {
            **_stated(live, f"customers/{customer.id}/campaigns/{row.id}", row.id, row.name, row.status, None),
            "advertisingChannelType": plan.channel,
            "biddingStrategyType": plan.bidding,
            **({"trackingUrlTemplate": TEMPLATES[row.name]} if row.name in TEMPLATES else {"finalUrlSuffix": SUFFIX}),
        }
        return {"customer": _customer(customer), "campaign": node, "campaignBudget": _budget(holdings, live, row)}
    above: Campaign | AdSet = (
        next(one for one in holdings.tree.campaigns if one.id == row.campaign_id)
        if isinstance(row, AdSet)
        else next(one for one in holdings.tree.ad_sets if one.id == row.ad_set_id)
    )
    base = _nested(holdings, live, customer, above)
    if holdings.plans[row.campaign_id].channel == ASSETS:
        return _assets(live, base, customer, row)
    parent = base["campaign"] if isinstance(row, AdSet) else base["adGroup"]
    if isinstance(row, AdSet):
        resource = f"customers/{customer.id}/adGroups/{row.id}"
        return {**base, "adGroup": _stated(live, resource, row.id, row.name, row.status, parent["primaryStatus"])}
    resource = f"customers/{customer.id}/adGroupAds/{row.ad_set_id}~{row.id}"
    own = _stated(live, resource, row.id, row.name, row.status, parent["primaryStatus"])
    shown = next(one for one in holdings.tree.creatives if one.id == row.creative_id)
    told = {name: own[name] for name in ("resourceName", "status", "primaryStatus") if name in own}
    return {**base, "adGroupAd": {**told, "ad": _ad(row, shown)}}


def _assets(live: Live, base: Row, customer: AdAccount, row: AdSet | Ad) -> Row:
    resource = f"customers/{customer.id}/assetGroups/{row.id}"
    node = _stated(live, resource, row.id, row.name, row.status, base["campaign"]["primaryStatus"])
    url = {"finalUrls": [row.landing_url]} if isinstance(row, Ad) else {}
    return {**base, "assetGroup": {**node, **url}}


def _stated(live: Live, resource: str, number: str, name: str, status: str, above: str | None) -> Row:
    node: Row = live.over(resource, {"resourceName": resource, "id": number, "name": name, "status": status})
    if "status" in node:
        own = "ELIGIBLE" if node["status"] == "ENABLED" else node["status"]
        node["primaryStatus"] = above if above in ("REMOVED", "PAUSED") and own != "REMOVED" else own
    return node


def _ad(row: Ad, shown: Creative) -> Row:
    texts = {"headlines": [{"text": shown.title}], "descriptions": [{"text": shown.body}]}
    if shown.video_id:
        texts["videos"] = [{"asset": f"customers/{row.account_id}/assets/{shown.video_id}"}]
        kind = ("VIDEO_RESPONSIVE_AD", "videoResponsiveAd")
    else:
        kind = ("RESPONSIVE_SEARCH_AD", "responsiveSearchAd")
    return {"id": row.id, "type": kind[0], "finalUrls": [row.landing_url], kind[1]: texts}


def _budget(holdings: Holdings, live: Live, row: Campaign) -> Row:
    plan = holdings.plans[row.id]
    number = SHARED_BUDGET if plan.shares else f"9{row.id}"
    member = "totalAmountMicros" if plan.lifetime_minor else "amountMicros"
    node = {
        "resourceName": f"customers/{row.account_id}/campaignBudgets/{number}",
        member: str((plan.lifetime_minor or plan.budget) * 10_000),
        "explicitlyShared": plan.shares,
    }
    return live.over(str(node["resourceName"]), node)


def _of_assets(holdings: Holdings, rows: Sequence[AdSet] | Sequence[Ad], *, wanted: bool) -> list[Any]:
    return [row for row in rows if (holdings.plans[row.campaign_id].channel == ASSETS) is wanted]


_KINDS: Mapping[str, Callable[[Holdings], Sequence[Any]]] = {
    "campaign": lambda holdings: holdings.tree.campaigns,
    "ad_group": lambda holdings: _of_assets(holdings, holdings.tree.ad_sets, wanted=False),
    "ad_group_ad": lambda holdings: _of_assets(holdings, holdings.tree.ads, wanted=False),
    "asset_group": lambda holdings: _of_assets(holdings, holdings.tree.ads, wanted=True),
}
