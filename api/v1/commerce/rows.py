"""Rows of the stored copy as answers tell them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from api.money import in_currency
from api.v1.commerce.queries import Row, utc

AMOUNTS = ("subtotal", "total_discounts", "total_shipping", "total_tax", "total", "refunded_total")


def product(row: Row, variants: Iterable[Row], connection_id: str) -> dict[str, Any]:
    return {
        **_in_utc(row),
        "connection_id": connection_id,
        "tags": json.loads(row["tags"] or "[]"),
        "variants": [_variant(one, row["currency"]) for one in variants],
    }


def order(row: Row, lines: Iterable[Row], connection_id: str) -> dict[str, Any]:
    currency = row["currency"]
    return {
        **_in_utc(row),
        **{name: _money(row[name], currency) for name in AMOUNTS},
        "connection_id": connection_id,
        "lines": [{**one, "price": _money(one["price"], currency)} for one in lines],
    }


def _variant(row: Row, currency: str) -> dict[str, Any]:
    options = json.loads(row["options"] or "[]")
    return {
        **_in_utc(row),
        "price": _money(row["price"], currency),
        "compare_at_price": _money(row["compare_at_price"], currency),
        "options": [{"name": str(one.get("name")), "value": str(one.get("value"))} for one in options],
    }


def _money(value: Decimal | None, currency: str) -> str | None:
    return None if value is None else in_currency(value, currency)


def _in_utc(row: Row) -> dict[str, Any]:
    return {name: utc(value) if isinstance(value, datetime) else value for name, value in row.items()}
