"""The live reads of a connected store: everything the store has, page by page, and what callers are told of trouble."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.models import Connection, PiiAccess, Profile
from api.scopes import Scope
from api.v1.commerce import live
from connectors import shopify_graph
from sandbox import shopify_objects
from sandbox.world import World
from tests.api.conftest import Caller
from tests.factories import documented
from tests.factories.connected import reload, to_store
from tests.fixtures.sandbox import TODAY, RunningSandbox
from touchledger.settings import Settings

PRODUCTS, ORDERS = "/commerce/live/products", "/commerce/live/orders"
GRAPHQL = "/graphql.json$"
SINCE = datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC) - timedelta(days=6)


@pytest.fixture
def store(settings: Settings, profile: Profile, sandbox: RunningSandbox) -> Connection:
    return to_store(settings.operational_url, profile, sandbox.url)


@pytest.fixture
def merchant(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.COMMERCE_LIVE])


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


def walk(caller: Caller, path: str, **query: Any) -> list[dict[str, Any]]:
    found, query_string = [], query
    for _ in range(100):
        answer = caller.get(path, query_string=query_string)
        assert answer.status_code == 200, answer.text
        found += answer.json["data"]
        cursor = answer.json["pagination"]["cursor"]
        assert answer.json["pagination"]["has_next"] == (cursor is not None)
        if cursor is None:
            return found
        query_string = {"pagination.cursor": cursor}
    raise AssertionError("the walk does not end")


def changed(world: World) -> list[str]:
    orders = [row for row in world.orders if row.updated_at >= SINCE.timestamp()]
    return [str(row.id) for row in sorted(orders, key=lambda row: (row.updated_at, row.id))]


@pytest.mark.parametrize("path", [PRODUCTS, ORDERS])
def test_nobody_reads_a_store_live_without_the_scope_for_it(
    path: str, anonymous: Caller, caller_with: Callable[..., Caller], store: Connection
) -> None:
    assert anonymous.get(path).status_code == 401
    assert code(caller_with(scopes=[Scope.COMMERCE_READ]).get(path)) == (403, "insufficient_scope")


def test_products_of_every_status_come_with_every_variant(
    merchant: Caller, store: Connection, sandbox: RunningSandbox
) -> None:
    answer = merchant.get(PRODUCTS)
    assert {key: answer.json["meta"][key] for key in ("connection_id", "shop")} == {
        "connection_id": store.id,
        "shop": "alder-finch.myshopify.com",
    }
    found = {row["product_id"]: row for row in walk(merchant, PRODUCTS, limit=3)}
    assert {number: (row["status"], len(row["variants"])) for number, row in found.items()} == {
        str(row.id): (row.status, len(row.variants)) for row in sandbox.world.products
    }
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", [PRODUCTS, ORDERS])
def test_the_document_describes_a_page_with_the_store_that_was_read(
    path: str, merchant: Caller, store: Connection
) -> None:
    documented.check(merchant.client, merchant.get(f"{path}?limit=2"), f"/api/v1{path}")


def test_the_document_promises_no_deleted_product_live(merchant: Caller, sandbox: RunningSandbox) -> None:
    schemas = merchant.client.get("/openapi.json").get_json()["components"]["schemas"]
    assert set(schemas["LiveProduct"]["properties"]["status"]["enum"]) == {row.status for row in sandbox.world.products}
    assert "deleted" in schemas["Product"]["properties"]["status"]["enum"]


def test_orders_come_with_their_buyers_attributes_lines_and_exact_money(
    merchant: Caller, store: Connection, sandbox: RunningSandbox
) -> None:
    rows = walk(merchant, ORDERS, updated_since=SINCE.isoformat(), limit=250)
    assert [row["order_id"] for row in rows] == changed(sandbox.world)
    true = {str(row.id): row for row in sandbox.world.orders}
    for row in rows:
        order = true[row["order_id"]]
        assert (row["email"], row["phone"]) == (order.known.email, order.known.phone)
        assert row["financial_status"] == order.financial_status
        assert row["fulfillment_status"] == ("fulfilled" if order.fulfilled else None)
        assert row["total"] == f"{order.total_minor / 100:.2f}"
        assert [(one["variant_id"], one["quantity"], one["discount"]) for one in row["lines"]] == [
            (str(line.variant_id), line.quantity, "0.00") for line in order.lines
        ]
        assert row["status_updated_at"] <= max(row["updated_at"], row["created_at"])
    assert any({"name": "tl_ad_platform", "value": "meta"} in row["attributes"] for row in rows)


def test_prices_of_a_store_whose_currency_iso_does_not_know_are_told_as_the_store_writes_them(
    merchant: Caller, store: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a shop on Jersey, whose pound Shopify has a code for: every live read was an internal error
    monkeypatch.setitem(shopify_objects.SHOP, "currencyCode", "JEP")
    answer = merchant.get(PRODUCTS, query_string={"limit": 1})
    assert answer.status_code == 200, answer.text
    (product,) = answer.json["data"]
    assert product["currency"] == "JEP"
    assert all(re.fullmatch(r"[0-9]+\.[0-9]+", variant["price"]) for variant in product["variants"])


@pytest.mark.parametrize("limit", [1, 7])
def test_a_cursor_carries_filter_store_and_size(
    merchant: Caller, settings: Settings, profile: Profile, store: Connection, sandbox: RunningSandbox, limit: int
) -> None:
    to_store(settings.operational_url, profile, sandbox.url, external_account_id="second.myshopify.com")
    asked = {"connection_id": store.id, "updated_since": SINCE.isoformat(), "limit": limit}
    assert [row["order_id"] for row in walk(merchant, ORDERS, **asked)] == changed(sandbox.world)


@pytest.mark.parametrize("beside", ["updated_since=2026-01-01T00:00:00Z", "limit=5", "connection_id={store}"])
def test_a_cursor_is_sent_alone(merchant: Caller, profile: Profile, store: Connection, beside: str) -> None:
    cursor = merchant.get(f"{PRODUCTS}?limit=1").json["pagination"]["cursor"]
    path = f"{PRODUCTS}?pagination.cursor={cursor}"
    assert code(merchant.get(f"{path}&{beside.format(store=store.id)}")) == (400, "invalid_parameter")
    assert merchant.get(f"{path}&profile_id={profile.id}").status_code == 200
    assert code(merchant.get(f"{ORDERS}?pagination.cursor={cursor}")) == (400, "invalid_parameter")


def test_which_store_is_meant_must_be_clear(
    merchant: Caller, settings: Settings, profile: Profile, sandbox: RunningSandbox
) -> None:
    url, unknown = settings.operational_url, "01900000-0000-7000-8000-000000000000"
    assert code(merchant.get(PRODUCTS)) == (404, "not_found")
    first = to_store(url, profile, sandbox.url)
    to_store(url, profile, sandbox.url, external_account_id="begun", status="pending")
    assert merchant.get(f"{PRODUCTS}?limit=1").json["meta"]["connection_id"] == first.id
    second = to_store(url, profile, sandbox.url, external_account_id="second")
    assert code(merchant.get(PRODUCTS)) == (400, "invalid_parameter")
    assert merchant.get(f"{PRODUCTS}?limit=1&connection_id={second.id}").json["meta"]["shop"] == "second"
    assert code(merchant.get(f"{PRODUCTS}?connection_id={unknown}")) == (404, "not_found")
    with db.transaction(url) as unit:
        unit.get_one(Connection, second.id).status = "disconnected"
    assert code(merchant.get(f"{PRODUCTS}?connection_id={second.id}")) == (404, "not_found")


@pytest.mark.parametrize(
    ("columns", "refusal"),
    [
        ({"status": "pending_selection"}, (409, "connection_not_ready")),
        ({"token": ""}, (409, "connection_not_ready")),
        ({"status": "reconnect_required"}, (409, "connection_revoked")),
    ],
)
def test_a_store_that_cannot_be_asked_says_why(
    merchant: Caller, settings: Settings, profile: Profile, sandbox: RunningSandbox,
    columns: dict[str, str], refusal: tuple[int, str],
) -> None:  # fmt: skip
    to_store(settings.operational_url, profile, sandbox.url, **columns)
    assert code(merchant.get(PRODUCTS)) == refusal


def test_a_dead_token_is_told_and_noted(
    merchant: Caller, settings: Settings, store: Connection, sandbox: RunningSandbox
) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "revoked", "times": None})
    answer = merchant.get(ORDERS)
    assert (code(answer), answer.json["error"]["reconnect_required"]) == ((409, "connection_revoked"), True)
    assert reload(settings.operational_url, store).status == "reconnect_required"


def test_a_busy_store_is_waited_for_and_then_answered_with_503(
    merchant: Caller, store: Connection, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "throttled", "wait": 0.1, "times": 3})
    assert merchant.get(f"{PRODUCTS}?limit=1").status_code == 200
    assert sandbox.hits() == [3]
    sandbox.plan({"route": GRAPHQL, "kind": "throttled", "wait": 40, "times": None})
    answer = merchant.get(PRODUCTS)
    assert (code(answer), answer.headers["Retry-After"]) == ((503, "service_unavailable"), "40")
    monkeypatch.setattr(live, "WITHIN_SECONDS", 0.0)
    answer = merchant.get(PRODUCTS)
    assert (code(answer), answer.headers["Retry-After"]) == ((503, "service_unavailable"), "10")


def test_a_store_that_asks_for_a_wait_without_end_is_busy_for_a_day(
    merchant: Caller, store: Connection, sandbox: RunningSandbox
) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "status", "status": 430, "headers": {"Retry-After": "9" * 400}})
    answer = merchant.get(PRODUCTS)
    assert (code(answer), answer.headers["Retry-After"]) == ((503, "service_unavailable"), "86400")


def test_a_broken_answer_is_the_providers_error(merchant: Caller, store: Connection, sandbox: RunningSandbox) -> None:
    sandbox.plan({"route": GRAPHQL, "kind": "html", "times": None})
    assert code(merchant.get(PRODUCTS)) == (502, "provider_error")


def test_a_place_that_the_store_forgot_is_an_expired_cursor(
    merchant: Caller, store: Connection, sandbox: RunningSandbox
) -> None:
    cursor = merchant.get(f"{ORDERS}?limit=1").json["pagination"]["cursor"]
    sandbox.plan({"route": GRAPHQL, "kind": "cursor_expires", "times": None})
    answer = merchant.get(f"{ORDERS}?pagination.cursor={cursor}")
    assert code(answer) == (400, "invalid_parameter") and "expired" in answer.json["error"]["message"]


def test_reading_buyers_is_logged_and_nothing_else_of_them_is_kept(
    merchant: Caller, settings: Settings, store: Connection, caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    orders = merchant.get(f"{ORDERS}?limit=20").json["data"]
    merchant.get(PRODUCTS)
    addresses = {row["email"] for row in orders if row["email"]}
    assert addresses
    with db.transaction(settings.operational_url) as unit:
        kept = list(unit.scalars(sa.select(PiiAccess)))
    assert [(row.subject, row.pii_level, row.record_count) for row in kept] == [("order", "full", 20)]
    told = caplog.text + "".join(capfd.readouterr())
    written = b"".join(path.read_bytes() for path in Path(settings.home).rglob("*") if path.is_file())
    assert not [one for one in addresses if one in told or one.encode() in written]


def test_one_query_stays_within_what_the_store_allows(
    merchant: Caller, store: Connection, sandbox: RunningSandbox
) -> None:
    sandbox.plan()
    merchant.get(f"{ORDERS}?limit=15")
    assert sandbox.calls("/graphql.json") == 1
    assert shopify_graph.PAGE >= 15
