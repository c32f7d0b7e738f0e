"""Rows of the stored copy, and of a store read live, as answers tell them."""

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
        "tags": _listed(row["tags"]),
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


def live_order(row: Row, connection_id: str) -> dict[str, Any]:
    """An order as the store tells it, of which `email` and `phone` are the buyer's."""
    lines = [{**line, "discount": _money(line["discount"], row["currency"])} for line in row["lines"]]
    return order(row, lines, connection_id)


def _variant(row: Row, currency: str) -> dict[str, Any]:
    options = _listed(row["options"])
    return {
        **_in_utc(row),
        "price": _money(row["price"], currency),
        "compare_at_price": _money(row["compare_at_price"], currency),
        "options": [{"name": str(one.get("name")), "value": str(one.get("value"))} for one in options],
    }


def _listed(value: list[Any] | str | None) -> list[Any]:
    """A list, which the served file keeps as JSON."""
    return value if isinstance(value, list) else list(json.loads(value or "[]"))


def _money(value: Decimal | None, currency: str) -> str | None:
    return None if value is None else in_currency(value, currency)


def _in_utc(row: Row) -> dict[str, Any]:
    naive = {name: value for name, value in row.items() if isinstance(value, datetime) and value.tzinfo is None}
    return {**row, **{name: utc(value) for name, value in naive.items()}}
