"""What the sandbox's ledger holds, in the words of the rows that connectors give."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

from connectors.ad_platform import Row
from sandbox.money import Order, decimal_amount
from sandbox.world import World

Figures = dict[Any, tuple[Any, ...]]


def delivered(days: Iterable[tuple[date, list[Row]]]) -> Figures:
    """Spend, impressions, clicks and the platform's claims by ad-day; each ad-day is there once."""
    found = list(days)
    keys = [(row["ad_id"], row["date"]) for _, rows in found for row in rows]
    assert len(set(keys)) == len(keys)
    names = ("spend", "impressions", "clicks", "link_clicks", "reach", "platform_conversions")
    return {
        (row["ad_id"], day): (*(row[name] for name in names), row["platform_conversion_value"])
        for day, rows in found
        for row in rows
    }


def true_delivery(world: World, account_id: str, since: date, until: date) -> Figures:
    """As `delivered`, from the ledger as the platform shows it on its day."""
    return {
        (row.ad_id, row.day): (
            Decimal(row.spend_minor) / 100, row.impressions, row.clicks, row.link_clicks, row.reach,
            row.claimed_purchases, Decimal(row.claimed_value_minor) / 100,
        )
        for row in world.delivery_seen(account_id, since, until)
    }  # fmt: skip


def ordered(rows: Iterable[Row]) -> Figures:
    """What an order is called, its states, who paid and its money, by order."""
    names = ("order_ref", "financial_status", "payment_ref", "email", "total", "refunded_total", "total_tax")
    found = list(rows)
    assert len({row["order_id"] for row in found}) == len(found)
    return {row["order_id"]: tuple(row[name] for name in names) for row in found}


def true_orders(orders: Iterable[Order]) -> Figures:
    """As `ordered`, from the ledger."""

    def money(row: Order, minor: int) -> Any:
        return decimal_amount(minor, row.currency)

    def paid(row: Order) -> str | None:
        settled = row.financial_status not in ("pending", "voided")
        return f"stripe:{row.intent_id}" if row.intent_id and settled else None

    return {
        str(row.id): (row.name, row.financial_status, paid(row), row.known.email, money(row, row.total_minor),
                      money(row, row.refunded_minor), money(row, row.tax_minor))
        for row in orders
    }  # fmt: skip


def taken(rows: Iterable[Row]) -> Figures:
    """Amount, currency, state and time of each payment."""
    return {
        row["payment_ref"]: (row["value"], row["currency"], row["payment_status"], int(row["occurred_at"].timestamp()))
        for row in rows
        if row["conversion_type"] == "payment_received"
    }


def true_payments(world: World) -> Figures:
    """As `taken`, from the ledger."""
    return {
        f"stripe:{row.intent_id}": (decimal_amount(row.amount_minor, row.currency), row.currency, row.status, row.at)
        for row in world.payments
    }


def given_back(rows: Iterable[Row]) -> Figures:
    """The payment that each refund lowers, and by how much."""
    return {
        row["conversion_key"]: (row["refunds_payment_ref"], row["value"])
        for row in rows
        if row["conversion_type"] == "refund_issued" and not row["_deleted"]
    }


def true_refunds(world: World) -> Figures:
    """As `given_back`, from the ledger."""
    return {
        f"stripe:{refund.id}": (f"stripe:{row.intent_id}", decimal_amount(refund.amount_minor, row.currency))
        for row in world.payments
        for refund in row.refunds
        if refund.status == "succeeded"
    }
