"""The ways in which connectors read providers, each over a small world whose pages are small too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from connectors import google_ads, meta_ads, meta_graph, shopify_graph, stripe_lists, tiktok_ads, tiktok_api
from connectors.ad_platform import days_of
from connectors.apps import OF_SANDBOX
from connectors.google_ads import GoogleAds
from connectors.meta_ads import MetaAds
from connectors.shopify import Shopify
from connectors.stripe import Stripe
from connectors.tiktok_ads import TikTokAds
from connectors.transport import Transport
from sandbox import google_world, tiktok_world
from sandbox.ad_catalogue import ACCOUNTS
from sandbox.faces import TOKENS
from sandbox.world import World
from tests.connectors import truths
from tests.fixtures.sandbox import TODAY

NUMBERED = frozenset({"rows", "pages", "numbered"})
CURSORS = frozenset({"rows", "pages", "cursor", "waits"})
Units = Iterator[tuple[str, Any]]
SYNC_SINCE, REPORT_SINCE = TODAY - timedelta(days=3), TODAY - timedelta(days=5)
SIZES = (
    (meta_graph, "PAGE", 12),
    (meta_graph, "FINISH_TIMEOUT", 60.0),
    (meta_ads, "SYNC_DAYS", 2),
    (meta_ads, "ASYNC_FROM_DAYS", 5),
    (meta_ads, "REPORT_DAYS", 3),
    (shopify_graph, "PAGE", 6),
    (stripe_lists, "PAGE", 10),
    (google_ads, "DAYS_AT_ONCE", 2),
    (tiktok_ads, "DAYS_AT_ONCE", 2),
    (tiktok_api, "PAGE", 6),
)


@contextmanager
def small_pages() -> Iterator[None]:
    """Pages, ranges and patience so small that a small world takes several of them."""
    with pytest.MonkeyPatch.context() as patched:
        for module, name, value in SIZES:
            patched.setattr(module, name, value)
        yield


@dataclass(frozen=True)
class Walk:
    """One way of reading. `read` gives, by unit, what came; a unit is there whole or not at all.

    `route` is where faults strike, `midway` how many calls there pass before one that lasts begins. `has` tells
    what the walk is made of: `rows` in lists, `pages` of them, found by `cursor` or `numbered`, a `report` that is
    waited for, `waits` that the provider states, `revised` figures, which it changes for 28 days.
    """

    name: str
    route: str
    midway: int
    read: Callable[[str, Transport], Units]
    truth: Callable[[World], dict[str, Any]]
    has: frozenset[str] = CURSORS


def _meta(url: str, transport: Transport) -> MetaAds:
    return MetaAds(f"{url}/meta", TOKENS["meta"], meta_ads_account(), transport)


def meta_ads_account() -> str:
    """The ad account that is read."""
    return ACCOUNTS[0].id


def _insights(since: Any) -> Callable[[str, Transport], Units]:
    def read(url: str, transport: Transport) -> Units:
        for day, rows in _meta(url, transport).delivery(since, TODAY):
            yield str(day), truths.delivered([(day, rows)])

    return read


def _true_insights(since: Any) -> Callable[[World], dict[str, Any]]:
    def truth(world: World) -> dict[str, Any]:
        days = [day for day, _ in days_of(since, TODAY)]
        return {str(day): truths.true_delivery(world, meta_ads_account(), day, day) for day in days}

    return truth


def _named(found: dict[str, Any]) -> Units:
    """The entities of any ad platform, once each."""
    for dataset, key in (("campaigns", "campaign_id"), ("ad_sets", "ad_set_id"), ("ads", "ad_id")):
        rows = found[dataset]
        assert len({row[key] for row in rows}) == len(rows)
        yield dataset, {row[key]: row["name"] for row in rows}


def _true_names(tree: Any, account: str) -> dict[str, Any]:
    kinds = ("campaigns", "ad_sets", "ads")
    return {kind: {row.id: row.name for row in getattr(tree, kind) if row.account_id == account} for kind in kinds}


def _entities(url: str, transport: Transport) -> Units:
    found = _meta(url, transport).entities()
    yield from _named(found)
    yield "creatives", {row["creative_id"]: (row["format"], row["title"]) for row in found["creatives"]}


def _true_entities(world: World) -> dict[str, Any]:
    own = [row for row in world.creatives if row.account_id == meta_ads_account()]
    return {**_true_names(world, meta_ads_account()), "creatives": {row.id: (row.format, row.title) for row in own}}


def _google(url: str, transport: Transport) -> GoogleAds:
    return GoogleAds(f"{url}/google", TOKENS["google"], google_world.CUSTOMERS[0].id, transport, OF_SANDBOX)


def _tiktok(url: str, transport: Transport) -> TikTokAds:
    return TikTokAds(f"{url}/tiktok", TOKENS["tiktok"], tiktok_world.ADVERTISERS[0].id, transport)


def _spent(open_: Callable[[str, Transport], Any]) -> Callable[[str, Transport], Units]:
    """What each ad-day cost and claims, where a platform tells no more."""

    def read(url: str, transport: Transport) -> Units:
        for day, rows in open_(url, transport).delivery(SYNC_SINCE, TODAY):
            names = ("spend", "impressions", "clicks", "platform_conversions", "platform_conversion_value")
            assert len({row["ad_id"] for row in rows}) == len(rows)
            yield str(day), {row["ad_id"]: tuple(row[name] for name in names) for row in rows}

    return read


def _true_spent(build: Callable[[World], Any], account: str, parts: int) -> Callable[[World], dict[str, Any]]:
    def truth(world: World) -> dict[str, Any]:
        found: dict[str, Any] = {str(day): {} for day, _ in days_of(SYNC_SINCE, TODAY)}
        for row in build(world).seen(account, SYNC_SINCE, TODAY, world.as_of):
            found[str(row.day)][row.ad_id] = (
                Decimal(row.spend_minor) / 100, row.impressions, row.clicks,
                Decimal(row.claimed_purchases) / parts, Decimal(row.claimed_value_minor) / 100,
            )  # fmt: skip
        return found

    return truth


def _store(url: str, transport: Transport) -> Shopify:
    return Shopify(f"{url}/shopify", TOKENS["shopify"], "alder-finch", transport)


def _orders(url: str, transport: Transport) -> Units:
    found = _store(url, transport).orders()
    yield "orders", truths.ordered(found["orders"])
    yield "order_lines", {(row["order_id"], row["line_id"]): row["quantity"] for row in found["order_lines"]}


def _true_orders(world: World) -> dict[str, Any]:
    lines = {(str(row.id), str(line.id)): line.quantity for row in world.orders for line in row.lines}
    return {"orders": truths.true_orders(world.orders), "order_lines": lines}


def _catalogue(url: str, transport: Transport) -> Units:
    found = _store(url, transport).catalogue()
    yield "products", {row["product_id"]: (row["title"], row["status"]) for row in found["products"]}
    yield "variants", {row["variant_id"]: (row["product_id"], int(row["price"] * 100)) for row in found["variants"]}


def _true_catalogue(world: World) -> dict[str, Any]:
    parts = [(row, part) for row in world.products for part in row.variants]
    return {
        "products": {str(row.id): (row.title, row.status) for row in world.products},
        "variants": {str(part.id): (str(row.id), part.price_minor) for row, part in parts},
    }


def _payments(url: str, transport: Transport) -> Units:
    stripe = Stripe(f"{url}/stripe", TOKENS["stripe"], transport)
    rows, renewals = stripe.payments(), stripe.renewals()
    assert len({row["conversion_key"] for row in rows}) == len(rows)
    assert len({row["payment_ref"] for row in renewals}) == len(renewals)
    yield "payments", truths.taken(rows)
    yield "refunds", truths.given_back(rows)


def _true_payments(world: World) -> dict[str, Any]:
    return {"payments": truths.true_payments(world), "refunds": truths.true_refunds(world)}


_REPORTS, _TRUE_REPORTS = _insights(REPORT_SINCE), _true_insights(REPORT_SINCE)
_CUSTOMER, _ADVERTISER = google_world.CUSTOMERS[0].id, tiktok_world.ADVERTISERS[0].id
WALKS = (
    Walk("Meta insights, pages", "/insights$", 5, _insights(SYNC_SINCE), _true_insights(SYNC_SINCE),
         CURSORS | {"revised"}),
    Walk("Meta insights, rows of a report run", r"/\d{6,}/insights$", 6, _REPORTS, _TRUE_REPORTS,
         CURSORS | {"revised"}),
    Walk("Meta insights, waiting for a report run", r"/act_\d+/insights$|/87\d+$", 6, _REPORTS, _TRUE_REPORTS,
         frozenset({"report", "waits"})),
    Walk("Meta entities", "/ads$", 1, _entities, _true_entities),
    Walk("Google delivery, streams", ":searchStream$", 5, _spent(_google),
         _true_spent(google_world.build, _CUSTOMER, google_world.PARTS), frozenset({"rows", "waits", "revised"})),
    Walk("Google entities", ":search$", 2, lambda url, transport: _named(_google(url, transport).entities()),
         lambda world: _true_names(google_world.build(world).tree, _CUSTOMER)),
    Walk("TikTok report", "/report/integrated/get/$", 3, _spent(_tiktok),
         _true_spent(tiktok_world.build, _ADVERTISER, 1), NUMBERED | {"revised"}),
    Walk("TikTok entities", "/ad/get/$", 1, lambda url, transport: _named(_tiktok(url, transport).entities()),
         lambda world: _true_names(tiktok_world.build(world).tree, _ADVERTISER), NUMBERED),
    Walk("Shopify orders", "/graphql.json$", 1, _orders, _true_orders),
    Walk("Shopify products", "/graphql.json$", 1, _catalogue, _true_catalogue),
    Walk("Stripe payments", "/v1/charges$", 1, _payments, _true_payments),
)  # fmt: skip
