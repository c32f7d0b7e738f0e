"""A profile with two stores in its snapshot: one connected, one that only files tell of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api import db
from api.models import Connection, Profile
from api.scopes import Scope
from api.warehouse_ids import identifier_id
from tests.api.conftest import Caller
from tests.factories import served
from touchledger.settings import Settings

SHOP, BAZAAR = "trail-box.myshopify.com", "bazaar"
ANN = {"email": "ann@example.com", "phone": "+14155550123"}


@pytest.fixture
def connection(settings: Settings, profile: Profile) -> Connection:
    with db.transaction(settings.operational_url) as unit:
        made = Connection(profile_id=profile.id, provider="shopify", kind="store", display_name="Trail Box")
        made.external_account_id, made.base_url, made.token = SHOP, "https://x.example", "none"
        unit.add(made)
    return made


@pytest.fixture
def stocked(settings: Settings, profile: Profile, connection: Connection) -> str:
    """Publish the two stores; gives the snapshot's id."""
    return served.publish(settings.published, tables(profile.id))


@pytest.fixture
def merchant(stocked: str, caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.COMMERCE_READ])


def tables(profile_id: str) -> dict[str, list[dict[str, Any]]]:
    facts = {"time_zone": "UTC", "currency": "USD", "currency_digits": 2, "settings_version": "v"}
    return {
        "profiles": [
            {"profile_key": 1, "profile_id": profile_id, **facts},
            {"profile_key": 2, "profile_id": "0190aaaa-0000-7000-8000-000000000001", **facts},
        ],
        "products": _products(),
        "variants": _variants(),
        "orders": _orders(profile_id),
        "order_lines": _lines(),
    }


def _products() -> list[dict[str, Any]]:
    shop = {"profile_key": 1, "connection_ref": SHOP, "currency": "USD", "status": "active"}
    return [
        {**shop, "product_id": "1", "updated_at": "2026-03-01 10:00:00", "title": "Boots", "tags": '["new","wool"]',
         "handle": "boots", "created_at": "2026-01-01 00:00:00.5"},
        {**shop, "product_id": "2", "updated_at": "2026-03-02 10:00:00", "title": "Hat", "status": "deleted"},
        {**shop, "product_id": "3", "updated_at": "2026-03-02 10:00:00", "title": "Rope", "status": "draft"},
        {**shop, "product_id": "1", "connection_ref": BAZAAR, "updated_at": "2026-03-03 10:00:00", "title": "Tea",
         "currency": "JPY"},
        {**shop, "profile_key": 2, "product_id": "9", "updated_at": "2026-03-01 10:00:00", "title": "Foreign"},
    ]  # fmt: skip


def _variants() -> list[dict[str, Any]]:
    of = {"profile_key": 1, "product_id": "1", "updated_at": "2026-03-01 10:00:00"}
    return [
        {**of, "connection_ref": SHOP, "variant_id": "12", "position": 2, "price": "90"},
        {**of, "connection_ref": SHOP, "variant_id": "11", "position": 1, "price": "80.5", "compare_at_price": "95",
         "inventory_quantity": -1, "inventory_policy": "deny", "tracked": True, "sku": "B-1",
         "options": '[{"name":"Size","value":"38"}]'},
        {**of, "connection_ref": BAZAAR, "variant_id": "11", "price": "900"},
    ]  # fmt: skip


def _orders(profile_id: str) -> list[dict[str, Any]]:
    row = {"profile_key": 1, "connection_ref": SHOP, "currency": "USD", "financial_status": "paid", "total": "88.5",
           "updated_at": "2026-03-04 10:00:00"}  # fmt: skip
    email, phone = (identifier_id(profile_id, kind, ANN[kind]) for kind in ("email", "phone"))
    return [
        {**row, "order_id": "51", "order_ref": "#1001", "created_at": "2026-03-01 10:00:00", "email_id": email,
         "subtotal": "88.50", "refunded_total": "0", "fulfillment_status": "partial"},
        {**row, "order_id": "52", "order_ref": "#1002", "created_at": "2026-03-02 10:00:00", "email_id": email,
         "phone_id": phone},
        {**row, "order_id": "53", "order_ref": "#1003", "created_at": "2026-03-02 10:00:00", "email_id": email},
        {**row, "order_id": "51", "order_ref": "#1001", "created_at": "2026-03-03 10:00:00", "connection_ref": BAZAAR,
         "currency": "JPY", "total": "900"},
        {**row, "profile_key": 2, "order_id": "59", "order_ref": "#1001", "created_at": "2026-03-05 10:00:00",
         "email_id": email},
    ]  # fmt: skip


def _lines() -> list[dict[str, Any]]:
    row = {"profile_key": 1, "order_id": "51", "connection_ref": SHOP, "quantity": 1}
    return [
        {**row, "line_id": "2", "title": "Socks", "quantity": 2, "price": "4"},
        {**row, "line_id": "1", "title": "Boots", "price": "80.50", "product_id": "1", "variant_id": "11"},
        {**row, "line_id": "1", "title": "Tea", "price": "900", "connection_ref": BAZAAR},
    ]
