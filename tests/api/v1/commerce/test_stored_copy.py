"""GET /commerce/products and /commerce/orders: order, pages, selectors, money, and nobody's identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import Connection, PiiAccess, Profile
from api.warehouse_ids import uuid_v8
from tests.api.conftest import Caller
from tests.api.v1.commerce.conftest import ANN, BAZAAR
from tests.factories import erasures
from touchledger.settings import Settings

ALL = [("1", "active"), ("2", "deleted"), ("3", "draft"), ("1", "active")]


def walk(caller: Caller, path: str, **query: Any) -> list[dict[str, Any]]:
    found, cursor = [], None
    for _ in range(20):
        body = caller.get(path, query_string={**query, **({"cursor": cursor} if cursor else {})}).json
        found += body["data"]
        cursor = body["pagination"]["cursor"]
        assert body["pagination"]["has_next"] == (cursor is not None)
        if cursor is None:
            return found
    raise AssertionError("the walk does not end")


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["order_ref"] for row in answer.json["data"]]


def accesses(settings: Settings) -> list[PiiAccess]:
    with db.transaction(settings.operational_url) as unit:
        return list(unit.scalars(sa.select(PiiAccess).order_by(PiiAccess.at)))


@pytest.mark.parametrize("path", ["/commerce/products", "/commerce/orders?order_ref=1"])
def test_nobody_reads_the_copy_without_a_key_of_its_scope(path: str, anonymous: Caller, caller: Caller) -> None:
    assert anonymous.get(path).status_code == 401
    assert code(caller.get(path)) == (403, "insufficient_scope")


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 250])
def test_a_walk_gives_each_product_once_in_the_order_of_its_change(merchant: Caller, limit: int) -> None:
    assert [(row["product_id"], row["status"]) for row in walk(merchant, "/commerce/products", limit=limit)] == ALL


def test_what_changed_at_the_very_time_asked_for_is_given_again(merchant: Caller) -> None:
    since = walk(merchant, "/commerce/products", updated_since="2026-03-02T05:00:00-05:00", limit=1)
    assert [row["product_id"] for row in since] == ["2", "3", "1"]
    assert walk(merchant, "/commerce/products", updated_since="2026-03-03T10:00:00.001Z") == []


def test_a_product_carries_its_variants_in_the_stores_order_and_exact_money(
    merchant: Caller, connection: Connection
) -> None:
    boots, gone, _, tea = walk(merchant, "/commerce/products")
    assert boots["connection_id"] == connection.id
    assert (boots["tags"], boots["created_at"]) == (["new", "wool"], "2026-01-01T00:00:00.500Z")
    assert [(one["variant_id"], one["price"], one["compare_at_price"]) for one in boots["variants"]] == [
        ("11", "80.50", "95.00"),
        ("12", "90.00", None),
    ]
    assert boots["variants"][0]["options"] == [{"name": "Size", "value": "38"}]
    assert (boots["variants"][0]["inventory_quantity"], boots["variants"][0]["tracked"]) == (-1, True)
    assert gone["variants"] == []
    assert [one["price"] for one in tea["variants"]] == ["900"]


def test_a_store_of_files_alone_has_an_id_that_follows_from_its_handle(
    merchant: Caller, profile: Profile, connection: Connection
) -> None:
    bazaar = uuid_v8(profile.id, "connection", BAZAAR)
    assert [row["title"] for row in walk(merchant, "/commerce/products", connection_id=bazaar.upper())] == ["Tea"]
    assert len(walk(merchant, "/commerce/products", connection_id=connection.id)) == 3
    assert walk(merchant, "/commerce/products", connection_id="01900000-0000-7000-8000-000000000000") == []
    assert names(merchant.get("/commerce/orders", query_string={"order_ref": "#1001", "connection_id": bazaar})) == [
        "#1001"
    ]


def test_a_cursor_is_good_for_the_same_filters_only(merchant: Caller) -> None:
    cursor = merchant.get("/commerce/products?limit=1").json["pagination"]["cursor"]
    other = {"cursor": cursor, "updated_since": "2026-03-01T00:00:00Z"}
    assert code(merchant.get("/commerce/products", query_string=other)) == (400, "invalid_parameter")


def test_a_known_catalogue_is_not_sent_again_until_a_store_is_connected(
    merchant: Caller, settings: Settings, connection: Connection
) -> None:
    tag = merchant.get("/commerce/products").headers["ETag"]
    assert merchant.get("/commerce/products", headers={"If-None-Match": tag}).status_code == 304
    with db.transaction(settings.operational_url) as unit:
        unit.get_one(Connection, connection.id).external_account_id = BAZAAR
    assert merchant.get("/commerce/products", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"order_ref": "#1001"}, ["#1001", "#1001"]),
        ({"email": "ANN@example.com"}, ["#1002", "#1003", "#1001"]),
        ({"phone": "+1 415 555 0123"}, ["#1002"]),
        ({"email": ANN["email"], "order_ref": "#1003"}, ["#1003"]),
        ({"email": ANN["email"], "phone": "+14155550124"}, []),
        ({"order_ref": "1001"}, []),
        ({"email": "somebody.else@example.com"}, []),
    ],
)
def test_selectors_are_all_to_fit_and_the_newest_order_comes_first(
    merchant: Caller, query: dict[str, str], found: list[str]
) -> None:
    assert names(merchant.get("/commerce/orders", query_string=query)) == found
    assert [row["order_ref"] for row in walk(merchant, "/commerce/orders", limit=1, **query)] == found


BROKEN = ({}, {"limit": "5"}, {"order_ref": ""}, {"email": "ann"}, {"phone": "4155550123"})


@pytest.mark.parametrize("query", [*BROKEN, {"order_ref": "#", "limit": "101"}])
def test_a_lookup_without_a_selector_or_with_a_broken_one_is_refused(merchant: Caller, query: dict[str, str]) -> None:
    assert code(merchant.get("/commerce/orders", query_string=query)) == (400, "invalid_parameter")


def test_an_order_tells_its_lines_and_money_and_nobody(merchant: Caller) -> None:
    answer = merchant.get("/commerce/orders", query_string={"order_ref": "#1001"})
    _, order = answer.json["data"]
    assert (order["total"], order["subtotal"], order["refunded_total"], order["total_tax"]) == (
        *("88.50", "88.50", "0.00"),
        None,
    )
    assert [(line["line_id"], line["quantity"], line["price"]) for line in order["lines"]] == [
        ("1", 1, "80.50"),
        ("2", 2, "4.00"),
    ]
    assert order["financial_status"] == "paid" and order["fulfillment_status"] == "partial"
    assert not {"email", "phone", "email_id", "phone_id", "attributes"} & order.keys()


def test_a_lookup_by_address_is_logged_with_its_count_and_never_the_address(
    merchant: Caller, settings: Settings
) -> None:
    merchant.get("/commerce/orders", query_string={"order_ref": "#1001"})
    assert accesses(settings) == []
    merchant.get("/commerce/orders", query_string={"email": ANN["email"]})
    merchant.get("/commerce/orders", query_string={"phone": ANN["phone"]})
    kept = accesses(settings)
    assert [(row.subject, row.route, row.record_count) for row in kept] == [
        ("order", "/commerce/orders", 3),
        ("order", "/commerce/orders", 1),
    ]
    told = " ".join(str(value) for row in kept for value in vars(row).values())
    assert "ann" not in told and "0123" not in told


def test_before_the_first_snapshot_there_is_nothing(caller_with: Callable[..., Caller]) -> None:
    early = caller_with(scopes=["commerce:read"])
    for path in ("/commerce/products", "/commerce/orders?order_ref=1"):
        body = early.get(path).json
        assert (body["data"], body["pagination"], body["meta"]["snapshot_id"]) == (
            [],
            {"cursor": None, "has_next": False},
            None,
        )


def test_orders_are_not_found_by_who_asked_to_be_forgotten_from_then_on(
    merchant: Caller, settings: Settings, profile: Profile
) -> None:
    path = f"/commerce/orders?email={ANN['email']}"
    known = {"If-None-Match": merchant.get(path).headers["ETag"]}
    erasures.forget(settings, profile.id, ("email", ANN["email"]))
    assert names(merchant.get(path, headers=known)) == []
    assert names(merchant.get("/commerce/orders?order_ref=%231003")) == ["#1003"]
    assert [one.record_count for one in accesses(settings)] == [3, 0]
