"""Shopify's official client, and plain GraphQL, against the sandbox's Shopify face."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import flask
import httpx
import pytest
import shopify

from sandbox.clock import rfc3339
from sandbox.faces import TOKENS
from sandbox.shopify import Bucket, blueprint
from tests.fixtures.sandbox import RunningSandbox

ORDERS = """
query ($first: Int!, $after: String, $query: String) {
  orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {
    edges { cursor node {
      ...Facts
      lineItems(first: 3) { nodes { title quantity originalUnitPriceSet { shopMoney { amount } } } }
      transactions { kind gateway authorizationCode amountSet { presentmentMoney { amount currencyCode } } }
    } }
    pageInfo { hasNextPage endCursor }
  }
}
fragment Facts on Order {
  id legacyResourceId name updatedAt displayFinancialStatus customAttributes { key value }
  totalPriceSet { shopMoney { amount currencyCode } presentmentMoney { amount currencyCode } }
}
"""


@pytest.fixture
def session(sandbox: RunningSandbox) -> Iterator[None]:
    shopify.ShopifyResource.set_site(f"{sandbox.url}/shopify/admin/api/2026-10")
    shopify.ShopifyResource.headers["X-Shopify-Access-Token"] = TOKENS["shopify"]
    yield
    shopify.ShopifyResource.clear_session()


def ask(document: str, **variables: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(shopify.GraphQL().execute(document, variables))
    return answer


def walk(first: int, query: str = "") -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = []
    after = None
    while True:
        page = ask(ORDERS, first=first, after=after, query=query)["data"]["orders"]
        nodes.extend(edge["node"] for edge in page["edges"])
        if not page["pageInfo"]["hasNextPage"]:
            return nodes
        after = page["pageInfo"]["endCursor"]


def test_graphql_pages_find_every_order_once_in_the_order_of_their_updates(
    session: None, sandbox: RunningSandbox
) -> None:
    found = walk(11)
    assert sorted(int(row["legacyResourceId"]) for row in found) == sorted(row.id for row in sandbox.world.orders)
    assert [row["updatedAt"] for row in found] == sorted(row["updatedAt"] for row in found)


def test_a_search_by_update_time_is_closed(session: None, sandbox: RunningSandbox) -> None:
    since = sorted(row.updated_at for row in sandbox.world.orders)[len(sandbox.world.orders) // 2]
    found = walk(40, f"updated_at:>='{rfc3339(since)}'")
    assert len(found) == sum(row.updated_at >= since for row in sandbox.world.orders)


def test_orders_say_what_was_paid_how_and_after_which_click(session: None, sandbox: RunningSandbox) -> None:
    found = {int(row["legacyResourceId"]): row for row in walk(50)}
    payments = {row.intent_id: row for row in sandbox.world.payments}
    for order in sandbox.world.orders:
        row = found[order.id]
        assert row["displayFinancialStatus"] == order.financial_status.upper()
        shown = row["totalPriceSet"]["presentmentMoney"]
        sales = [part for part in row["transactions"] if part["kind"] == "SALE"]
        if order.intent_id is not None:
            payment = payments[order.intent_id]
            assert [(part["gateway"], part["authorizationCode"]) for part in sales] == [("stripe", order.intent_id)]
            digits = 0 if payment.currency == "JPY" else 2
            assert (round(float(shown["amount"]) * 10**digits), shown["currencyCode"]) == (
                payment.amount_minor,
                payment.currency,
            )
        attributes = {part["key"]: part["value"] for part in row["customAttributes"]}
        assert attributes.get("tl_click_id") == (order.carries[1] if order.carries else None)


def test_products_come_with_their_variants(session: None, sandbox: RunningSandbox) -> None:
    query = "{ products(first: 50) { nodes { title status variants(first: 10) { nodes { sku price } } } } }"
    found = ask(query)["data"]["products"]["nodes"]
    assert [row["title"] for row in found] == [row.title for row in sandbox.world.products]
    assert found[0]["variants"]["nodes"][0] == {"sku": "AF-01-S", "price": "189.00"}
    assert {row["status"] for row in found} == {"ACTIVE", "DRAFT", "ARCHIVED"}


def test_an_answer_tells_its_cost(session: None) -> None:
    cost = ask("{ products(first: 10) { nodes { id variants(first: 5) { nodes { id } } } } }")["extensions"]["cost"]
    assert cost["requestedQueryCost"] == 2 + 10 * (1 + 2 + 5)
    assert 0 < cost["actualQueryCost"] < cost["requestedQueryCost"]
    assert cost["throttleStatus"]["restoreRate"] > 0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("{ orders(first: 251) { nodes { id } } }", "between 0 and 250"),
        ("{ orders { nodes { id } } }", "one of first or last"),
        ("{ orders(first: 1, after: 'x') { nodes { id } } }", "Syntax Error"),
        ('{ orders(first: 1, after: "x") { nodes { id } } }', "Invalid cursor"),
        ("{ orders(first: 1) { nodes { wish } } }", "Cannot query field 'wish'"),
        ("{ orders(first: 250) { nodes { lineItems(first: 50) { nodes { id } } } } }", "exceeds the single query max"),
    ],
)
def test_a_query_that_cannot_be_answered_says_why_with_status_200(session: None, query: str, text: str) -> None:
    assert text in ask(query)["errors"][0]["message"]


def test_an_empty_bucket_throttles_until_it_refills(sandbox: RunningSandbox) -> None:
    now = [0.0]
    app = flask.Flask("store")
    app.register_blueprint(blueprint(sandbox.holder, Bucket(maximum=30, restore_rate=10, clock=lambda: now[0])))
    client, headers = app.test_client(), {"X-Shopify-Access-Token": TOKENS["shopify"]}

    def post() -> dict[str, Any]:
        query = {"query": "{ orders(first: 20) { nodes { id } } }"}
        answer = client.post("/admin/api/2026-10/graphql.json", json=query, headers=headers)
        assert answer.status_code == 200
        body: dict[str, Any] = answer.get_json()
        return body

    assert "data" in post()
    refused = post()
    assert refused["errors"][0]["extensions"]["code"] == "THROTTLED"
    cost = refused["extensions"]["cost"]
    assert (cost["actualQueryCost"], "data" in refused) == (None, False)
    now[0] += (cost["requestedQueryCost"] - cost["throttleStatus"]["currentlyAvailable"]) / 10
    assert "data" in post()


def test_rest_pages_find_every_order_and_product_once(session: None, sandbox: RunningSandbox) -> None:
    page = shopify.Order.find(limit=30, status="any")
    found = list(page)
    while page.has_next_page():
        page = page.next_page()
        found.extend(page)
    assert [row.id for row in found] == [row.id for row in sandbox.world.orders]
    assert shopify.Product.find(sandbox.world.products[0].id).title == sandbox.world.products[0].title
    assert shopify.Shop.current().currency == "USD"


def test_a_wrong_token_is_refused(sandbox: RunningSandbox) -> None:
    url = f"{sandbox.url}/shopify/admin/api/2026-10/graphql.json"
    answer = httpx.post(url, headers={"X-Shopify-Access-Token": "shpat_nobody"}, json={}, trust_env=False)
    assert (answer.status_code, "Invalid API key" in answer.text) == (401, True)
