"""What Shopify may tell of one order or product without breaking its schema: no store is given up for it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from connectors.errors import Malformed, Refused
from connectors.shopify import Shopify
from connectors.transport import Answer
from data_contracts.contract import load
from tests.connectors.test_malformed import STORE_PAGE, Scripted


def store(kind: str, *nodes: dict[str, Any]) -> Shopify:
    """A store whose only page of a kind holds the usual node once for each of `nodes`, with its members changed."""
    page = json.loads(json.dumps(STORE_PAGE))
    (edge,) = page["data"][kind]["edges"]
    page["data"][kind]["edges"] = [{"node": {**edge["node"], **node}} for node in nodes]
    return Shopify("http://127.0.0.1:9", "t", "shop", Scripted([Answer(200, {}, page, True)]))


@pytest.mark.parametrize(
    "refused",
    [
        {"extensions": {"code": "ACCESS_DENIED"}, "path": ["orders"]},
        {"extensions": {"code": "ACCESS_DENIED"}},
        {"extensions": {"code": "ACCESS_DENIED"}, "path": ["orders", "edges", 0, "node", "totalPriceSet"]},
        {"extensions": {"code": "UNDEFINED_FIELD"}, "path": ["query Orders", "orders", "email"]},
    ],
    ids=["all", "nowhere", "money", "unknown"],
)
def test_what_is_kept_back_beside_contacts_refuses_the_list(refused: dict[str, Any]) -> None:
    page = json.loads(json.dumps(STORE_PAGE))
    contact = {"extensions": {"code": "ACCESS_DENIED"}, "path": ["orders", "edges", 0, "node", "email"]}
    page["errors"] = [contact, refused]
    with pytest.raises(Refused):
        Shopify("http://127.0.0.1:9", "t", "shop", Scripted([Answer(200, {}, page, True)])).orders()


def test_an_order_without_a_state_of_payment_is_pending() -> None:
    (row,) = store("orders", {"displayFinancialStatus": None}).orders()["orders"]
    assert row["financial_status"] == "pending"


@pytest.mark.parametrize(
    ("member", "column"),
    [("subtotalPriceSet", "subtotal"), ("totalDiscountsSet", "total_discounts"), ("totalTaxSet", "total_tax")],
)
def test_an_amount_that_a_store_does_not_tell_is_unknown(member: str, column: str) -> None:
    (row,) = store("orders", {member: None}).orders()["orders"]
    assert (row[column], row["total"]) == (None, Decimal("1.00"))
    assert load("orders").judge([row]).rejected == []


def test_an_order_that_is_not_as_promised_is_named() -> None:
    odd = store("orders", {}, {"id": "gid://shopify/Order/2", "totalPriceSet": None})
    with pytest.raises(Malformed, match="gid://shopify/Order/2 is not as promised"):
        odd.orders()


def test_an_order_placed_to_try_the_checkout_is_no_order() -> None:
    tried = {"id": "gid://shopify/Order/2", "test": True}
    assert [row["order_id"] for row in store("orders", tried, {"test": False}).orders()["orders"]] == ["1"]


def test_an_unlisted_product_is_active() -> None:
    (row,) = store("products", {"status": "UNLISTED"}).catalogue()["products"]
    assert row["status"] == "active"
    assert load("products").judge([row]).rejected == []


@pytest.mark.parametrize(
    ("state", "edited", "received", "total"),
    [
        # two of three lines were taken out before the buyer paid at the door
        ("PAID", True, "40.00", "40.00"),
        ("PARTIALLY_REFUNDED", True, "40.00", "40.00"),
        # a line was added, and paid
        ("PAID", True, "130.00", "130.00"),
        ("PAID", False, "40.00", "100.00"),
        # owed, not paid
        ("PENDING", True, "0.00", "100.00"),
        ("PARTIALLY_PAID", True, "40.00", "100.00"),
        # taken over as paid, from where its payments are not known
        ("PAID", True, "0.00", "100.00"),
    ],
)
def test_an_edited_order_is_worth_what_was_paid_for_it(state: str, edited: bool, received: str, total: str) -> None:
    told = {"totalPriceSet": money("100.00"), "totalReceivedSet": money(received)}
    (row,) = store("orders", {**told, "edited": edited, "displayFinancialStatus": state}).orders()["orders"]
    assert (row["total"], row["paid_total"]) == (Decimal(total), Decimal(received))


def money(amount: str) -> dict[str, Any]:
    return {"shopMoney": {"amount": amount, "currencyCode": "EUR"}}


@pytest.mark.parametrize("kind", ["orders", "products"])
def test_a_page_that_has_a_next_one_and_names_no_cursor_ends_no_list(kind: str) -> None:
    # the walk had ended there as if all had come, and what was behind was never asked for again
    page = json.loads(json.dumps(STORE_PAGE))
    page["data"][kind]["pageInfo"] = {"hasNextPage": True, "endCursor": None}
    shop = Shopify("http://127.0.0.1:9", "t", "shop", Scripted([Answer(200, {}, page, True)]))
    with pytest.raises(Malformed, match="no cursor"):
        shop.orders() if kind == "orders" else shop.catalogue()


@pytest.mark.parametrize(
    ("kind", "rest", "parent"), [("orders", "lineItems", "order"), ("products", "variants", "product")]
)
def test_what_was_deleted_while_its_rest_was_read_is_left_out_and_holds_up_no_other(
    kind: str, rest: str, parent: str
) -> None:
    page = json.loads(json.dumps(STORE_PAGE))
    (edge,) = page["data"][kind]["edges"]
    known = edge["node"]
    for line in known[rest]["edges"]:
        line["node"]["totalDiscountSet"] = known["totalPriceSet"]
    cut = {**known, "id": f"gid://shopify/{parent.title()}/2"}
    cut[rest] = {**known[rest], "pageInfo": {"hasNextPage": True, "endCursor": "c"}}
    page["data"][kind]["edges"] = [{"node": cut}, edge]
    told = [Answer(200, {}, page, True), Answer(200, {}, {"data": {parent: None}}, True)]
    for read in (
        (Shopify.orders, Shopify.orders_page) if kind == "orders" else (Shopify.catalogue, Shopify.products_page)
    ):
        shop = Shopify("http://127.0.0.1:9", "t", "shop", Scripted(list(told)))
        if read in (Shopify.orders_page, Shopify.products_page):
            rows = read(shop, since=None, after=None, most=5).rows
        else:
            rows = read(shop)[kind]
        assert [row[f"{parent}_id"] for row in rows] == ["1"]


def test_the_state_of_a_live_order_moves_with_its_payments_and_parcels() -> None:
    lines = {"edges": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}
    made = {"createdAt": "2026-03-01T00:00:00Z", "cancelledAt": None, "customAttributes": [], "lineItems": lines}
    paid, sent = {"processedAt": "2026-03-02T00:00:00Z"}, {"updatedAt": "2026-03-03T00:00:00Z"}
    orders = [
        {**made, "id": f"gid://shopify/Order/{number}", "transactions": transactions, "fulfillments": fulfillments}
        for number, (transactions, fulfillments) in enumerate([([], []), (None, None), ([paid], []), ([paid], [sent])])
    ]
    rows = store("orders", *orders).orders_page(since=None, after=None, most=9).rows
    assert [row["status_updated_at"].day for row in rows] == [1, 1, 2, 3]
