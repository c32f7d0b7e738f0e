"""The Shopify connector against the sandbox: the store's own rows, inside its cost budget, whatever goes wrong."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.click_ids import CLICK_IDS as OF_EVENTS
from connectors import shopify, shopify_graph
from connectors.attributes import CLICK_IDS, carried, pairs
from connectors.errors import Malformed, Refused, Revoked, Throttled
from connectors.shopify import FULFILLMENT, Shopify, payment_ref
from connectors.store import Store
from connectors.transport import Answer, Transport
from sandbox import shopify_graph as sandbox_graph
from sandbox.app import create_sandbox
from sandbox.faces import TOKENS
from sandbox.shopify import Bucket
from tests.connectors.conftest import POLICY
from tests.connectors.truths import ordered, true_orders
from tests.fixtures.sandbox import TODAY, RunningSandbox, served

GRAPHQL = "/graphql.json$"


@pytest.fixture
def store(sandbox: RunningSandbox, transport: Transport, monkeypatch: pytest.MonkeyPatch) -> Shopify:
    monkeypatch.setattr(shopify_graph, "PAGE", 12)
    return Shopify(f"{sandbox.url}/shopify", TOKENS["shopify"], "alder-finch", transport)


def test_it_is_a_store(store: Shopify) -> None:
    offered: Store = store
    assert offered.connection_ref == "alder-finch"


def test_every_order_of_the_world_arrives_with_its_money_and_payment(sandbox: RunningSandbox, store: Shopify) -> None:
    found = store.orders()
    assert ordered(found["orders"]) == true_orders(sandbox.world.orders)
    refs = {row["payment_ref"] for row in found["orders"]}
    assert None in refs
    assert len(refs) > 2


def test_every_line_of_every_order_arrives(sandbox: RunningSandbox, store: Shopify) -> None:
    lines = {(row["order_id"], row["line_id"]): row for row in store.orders()["order_lines"]}
    true = {(str(row.id), str(line.id)): line for row in sandbox.world.orders for line in row.lines}
    assert lines.keys() == true.keys()
    for key, line in true.items():
        row = lines[key]
        assert (row["variant_id"], row["quantity"], row["sku"], int(row["price"] * 100)) == (
            str(line.variant_id), line.quantity, line.sku, line.price_minor,
        )  # fmt: skip


def test_lines_beyond_the_first_page_of_an_order_are_read_on(
    sandbox: RunningSandbox, store: Shopify, monkeypatch: pytest.MonkeyPatch
) -> None:
    from connectors import shopify_queries

    short = shopify_queries.ORDERS.replace("lineItems(first: 5)", "lineItems(first: 1)")
    assert short != shopify_queries.ORDERS
    monkeypatch.setattr(shopify_queries, "ORDERS", short)
    assert len(store.orders()["order_lines"]) == sum(len(row.lines) for row in sandbox.world.orders)


def test_the_click_a_cart_remembered_comes_with_its_order(sandbox: RunningSandbox, store: Shopify) -> None:
    rows = {row["order_id"]: row for row in store.orders()["orders"]}
    carrying = [row for row in sandbox.world.orders if row.carries]
    assert carrying
    for order in carrying:
        kind, click, ad, at = order.carries or ("", "", "", 0)
        row = rows[str(order.id)]
        assert (row["click_id_type"], row["click_id"], row["ad_id"]) == (kind, click, ad)
        assert datetime.fromisoformat(row["touch_at"]).timestamp() == at


def test_the_catalogue_arrives_with_all_variants(sandbox: RunningSandbox, store: Shopify) -> None:
    found = store.catalogue()
    products = {row["product_id"]: (row["title"], row["status"], row["currency"]) for row in found["products"]}
    assert products == {str(row.id): (row.title, row.status, "USD") for row in sandbox.world.products}
    variants = {row["variant_id"]: (row["product_id"], int(row["price"] * 100)) for row in found["variants"]}
    assert variants == {
        str(part.id): (str(row.id), part.price_minor) for row in sandbox.world.products for part in row.variants
    }
    assert found["variants"][0]["options"][0].keys() == {"name", "value"}


def test_only_what_changed_since_a_moment_is_asked_for(sandbox: RunningSandbox, store: Shopify) -> None:
    moment = datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC) - timedelta(days=12)
    changed = [row for row in sandbox.world.orders if row.updated_at >= moment.timestamp()]
    assert 0 < len(changed) < len(sandbox.world.orders)
    assert ordered(store.orders(moment)["orders"]) == true_orders(changed)


def test_lists_longer_than_the_store_pages_through_arrive_whole(
    sandbox: RunningSandbox, store: Shopify, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the newest orders of a store with more had never come
    monkeypatch.setattr(shopify_graph, "PAGE", 5)
    monkeypatch.setattr(sandbox_graph, "DEEPEST", 25)
    monkeypatch.setattr(shopify, "DEEPEST", 20)
    assert len(sandbox.world.orders) > 3 * sandbox_graph.DEEPEST
    found = store.orders()
    assert ordered(found["orders"]) == true_orders(sandbox.world.orders)
    lines = [(row["order_id"], row["line_id"]) for row in found["order_lines"]]
    assert len(lines) == len(set(lines)) == sum(len(row.lines) for row in sandbox.world.orders)
    assert len(store.catalogue()["products"]) == len(sandbox.world.products)


def test_the_first_moment_of_all_asks_for_everything(sandbox: RunningSandbox, store: Shopify) -> None:
    # Linux writes the year 1 as "1", which is no date, and the caller was told that the store had refused
    moment = datetime.min.replace(tzinfo=UTC)
    assert ordered(store.orders(moment)["orders"]) == true_orders(sandbox.world.orders)


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "code", "status": 200, "code": "INTERNAL_SERVER_ERROR"},
        {"kind": "code", "status": 200, "code": "MAX_COST_EXCEEDED"},
    ],
    ids=lambda fault: fault["code"],
)
def test_orders_survive_refusals_in_good_answers_within_the_request_budget(
    sandbox: RunningSandbox, store: Shopify, transport: Transport, fault: dict[str, Any]
) -> None:
    store.orders()
    undisturbed = transport.requests
    sandbox.plan({"route": GRAPHQL, "after": 1, "times": 2, **fault})
    assert ordered(store.orders()["orders"]) == true_orders(sandbox.world.orders)
    assert sandbox.hits() == [2]
    smaller_pages = 4 if fault["code"] == "MAX_COST_EXCEEDED" else 1
    assert transport.requests - undisturbed <= undisturbed * smaller_pages + 2


def test_a_store_that_keeps_its_buyers_contacts_back_tells_its_orders_without_them(
    sandbox: RunningSandbox, store: Shopify
) -> None:
    # one such field of one order had refused all orders
    sandbox.plan({"route": GRAPHQL, "kind": "withheld", "times": None})
    rows = store.orders()["orders"]
    true = true_orders(sandbox.world.orders)
    assert {ref: (*row[:3], *row[4:]) for ref, row in ordered(rows).items()} == {
        ref: (*row[:3], *row[4:]) for ref, row in true.items()
    }
    assert {(row["email"], row["phone"]) for row in rows} == {(None, None)}
    assert store.withheld == {"email", "phone"}
    assert len(store.orders_page(since=None, after=None, most=5).rows) == 5


def test_a_throttled_query_waits_exactly_until_it_can_be_afforded(
    sandbox: RunningSandbox, store: Shopify, slept: list[float]
) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "throttled", "wait": 4, "times": 3})
    store.catalogue()
    assert [4 <= wait < 5 for wait in slept] == [True] * 3


def test_a_bucket_that_really_runs_dry_is_waited_out(sandbox: RunningSandbox, slept: list[float]) -> None:
    now = [0.0]
    bucket = Bucket(maximum=2000, restore_rate=100, clock=lambda: now[0])

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    with served(create_sandbox(sandbox.holder, bucket)) as url, Transport(POLICY, sleep=sleep) as transport:
        rows = Shopify(f"{url}/shopify", TOKENS["shopify"], "alder-finch", transport).orders()
    assert ordered(rows["orders"]) == true_orders(sandbox.world.orders)
    assert sum(slept) > 1


@pytest.mark.parametrize("status", [429, 430])
def test_a_wait_with_decimals_is_waited_out(
    sandbox: RunningSandbox, store: Shopify, slept: list[float], status: int
) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "status", "status": status, "headers": {"Retry-After": "4.0"}, "times": 2})
    store.catalogue()
    assert [4 <= wait < 5 for wait in slept] == [True] * 2


@pytest.mark.parametrize(("asked", "available", "wait"), [(400, 100, 3.0), (400, 400, 0.0), (400, 1000, 0.0)])
def test_the_wait_is_the_missing_points_over_the_restore_rate(asked: float, available: float, wait: float) -> None:
    status = {"maximumAvailable": 2000, "currentlyAvailable": available, "restoreRate": 100}
    cost = {"requestedQueryCost": asked, "actualQueryCost": 7, "throttleStatus": status}
    answer = Answer(200, {}, {"data": {}, "extensions": {"cost": cost}}, True)
    assert shopify_graph.ShopifyDialect().pause_after(answer) == wait


@pytest.mark.parametrize(
    ("fault", "error", "reason"),
    [
        ({"kind": "revoked"}, Revoked, "connection_revoked"),
        ({"kind": "code", "status": 200, "code": "ACCESS_DENIED"}, Refused, "permission_missing"),
        ({"kind": "status", "status": 402}, Refused, "shop_frozen"),
        ({"kind": "status", "status": 403}, Refused, "permission_missing"),
        ({"kind": "throttled", "wait": 400}, Throttled, "throttled"),
    ],
)
def test_refusals_are_never_repeated(
    sandbox: RunningSandbox, store: Shopify, transport: Transport, fault: dict[str, Any],
    error: type[Refused], reason: str,
) -> None:  # fmt: skip
    sandbox.plan({"route": GRAPHQL, "times": None, **fault})
    with pytest.raises(error) as caught:
        store.catalogue()
    assert (caught.value.reason, transport.requests) == (reason, 1)


def test_a_live_page_that_came_twice_is_told_once(sandbox: RunningSandbox, store: Shopify) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "duplicate_page", "after": 1, "times": 1})
    rows = store.orders_page(since=None, after=None, most=40).rows
    assert len({row["order_id"] for row in rows}) == len(rows) > 15
    sandbox.plan({"route": GRAPHQL, "kind": "duplicate_page", "after": 1, "times": 1})
    rows = store.products_page(since=None, after=None, most=40).rows
    assert len({row["product_id"] for row in rows}) == len(rows)


def test_a_page_that_repeats_for_ever_ends_the_walk(
    sandbox: RunningSandbox, store: Shopify, transport: Transport
) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "duplicate_page", "after": 1, "times": None})
    with pytest.raises(Malformed):
        store.orders()
    assert transport.requests <= 6


def test_every_display_state_of_fulfilment_has_a_place_in_our_four() -> None:
    assert set(FULFILLMENT.values()) == {"fulfilled", "partial", "restocked", None}


def test_attributes_are_known_hidden_prefixed_or_plain() -> None:
    given = pairs([
        {"key": "_anonymous_id", "value": "a1"}, {"key": "tl_ad_id", "value": "7"},
        {"key": "gclid", "value": "g"}, {"key": "gift", "value": "yes"}, {"key": "utm_source", "value": None},
    ])  # fmt: skip
    assert carried(given) == {"anonymous_id": "a1", "ad_id": "7", "click_id_type": "gclid", "click_id": "g"}


def test_of_several_click_ids_the_one_counts_that_an_event_would_keep() -> None:
    assert tuple(name for name in CLICK_IDS if name in OF_EVENTS) == OF_EVENTS
    for names in itertools.combinations(OF_EVENTS, 2):
        assert carried(dict.fromkeys(reversed(names), "x")) == {"click_id_type": names[0], "click_id": "x"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, ("fbc", "fb.1.1772000000000.abc")),
        ({"fbclid": "abc"}, ("fbc", "fb.1.1772000000000.abc")),
        ({"fbclid": "another"}, ("fbclid", "another")),
        ({"gclid": "g"}, ("gclid", "g")),
    ],
)
def test_metas_cookie_dates_its_own_click_alone(given: dict[str, str], kept: tuple[str, str]) -> None:
    found = carried({**given, "fbc": "fb.1.1772000000000.abc"})
    assert (found["click_id_type"], found["click_id"]) == kept


@pytest.mark.parametrize(
    ("transaction", "ref"),
    [
        ({"gateway": "stripe", "status": "SUCCESS", "authorizationCode": "pi_1"}, "stripe:pi_1"),
        ({"gateway": "stripe", "status": "FAILURE", "authorizationCode": "pi_1"}, None),
        ({"gateway": "paypal", "status": "SUCCESS", "authorizationCode": "x9"}, None),
        ({"gateway": "stripe", "status": "SUCCESS", "authorizationCode": None}, None),
    ],
)
def test_only_what_stripe_took_names_a_payment(transaction: dict[str, Any], ref: str | None) -> None:
    assert payment_ref([transaction]) == ref
