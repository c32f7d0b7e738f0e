"""The ways in which connectors read providers, each over a small world whose pages are small too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from connectors import meta_ads, meta_graph, shopify_graph, stripe_lists
from connectors.ad_platform import days_of
from connectors.meta_ads import MetaAds
from connectors.shopify import Shopify
from connectors.stripe import Stripe
from connectors.transport import Transport
from sandbox.faces import TOKENS
from sandbox.world import World
from tests.connectors import truths
from tests.fixtures.sandbox import TODAY

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
    what the walk is made of: a `list` has pages and cursors, a `report` a run that is waited for, `revised` figures
    that the provider changes for 28 days.
    """

    name: str
    route: str
    midway: int
    read: Callable[[str, Transport], Units]
    truth: Callable[[World], dict[str, Any]]
    has: frozenset[str] = frozenset({"list"})


def _meta(url: str, transport: Transport) -> MetaAds:
    return MetaAds(f"{url}/meta", TOKENS["meta"], meta_ads_account(), transport)


def meta_ads_account() -> str:
    """The ad account that is read."""
    from sandbox.ad_catalogue import ACCOUNTS

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


def _entities(url: str, transport: Transport) -> Units:
    found = _meta(url, transport).entities()
    names = {"campaigns": "campaign_id", "ad_sets": "ad_set_id", "ads": "ad_id"}
    for dataset, key in names.items():
        rows = found[dataset]
        assert len({row[key] for row in rows}) == len(rows)
        yield dataset, {row[key]: (row["name"], row["status"]) for row in rows}
    yield "creatives", {row["creative_id"]: (row["format"], row["title"]) for row in found["creatives"]}


def _true_entities(world: World) -> dict[str, Any]:
    def own(rows: Any, *names: str) -> dict[str, Any]:
        chosen = [row for row in rows if row.account_id == meta_ads_account()]
        return {row.id: tuple(getattr(row, name) for name in names) for row in chosen}

    named = {kind: own(getattr(world, kind), "name", "status") for kind in ("campaigns", "ad_sets", "ads")}
    return {**named, "creatives": own(world.creatives, "format", "title")}


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
    rows = Stripe(f"{url}/stripe", TOKENS["stripe"], transport).payments()["conversions"]
    assert len({row["conversion_key"] for row in rows}) == len(rows)
    yield "payments", truths.taken(rows)
    yield "refunds", truths.given_back(rows)


def _true_payments(world: World) -> dict[str, Any]:
    return {"payments": truths.true_payments(world), "refunds": truths.true_refunds(world)}


_REPORTS, _TRUE_REPORTS = _insights(REPORT_SINCE), _true_insights(REPORT_SINCE)
WALKS = (
    Walk("Meta insights, pages", "/insights$", 5, _insights(SYNC_SINCE), _true_insights(SYNC_SINCE),
         frozenset({"list", "revised"})),
    Walk("Meta insights, rows of a report run", r"/\d{6,}/insights$", 6, _REPORTS, _TRUE_REPORTS,
         frozenset({"list", "revised"})),
    Walk("Meta insights, waiting for a report run", r"/act_\d+/insights$|/87\d+$", 6, _REPORTS, _TRUE_REPORTS,
         frozenset({"report"})),
    Walk("Meta entities", "/ads$", 1, _entities, _true_entities),
    Walk("Shopify orders", "/graphql.json$", 1, _orders, _true_orders),
    Walk("Shopify products", "/graphql.json$", 1, _catalogue, _true_catalogue),
    Walk("Stripe payments", "/v1/charges$", 1, _payments, _true_payments),
)  # fmt: skip
