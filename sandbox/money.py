"""The money side of the world: catalogue, orders, payments, refunds, subscriptions and exchange rates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sandbox.people import Known

DIGITS = {"USD": 2, "EUR": 2, "GBP": 2, "JPY": 0}


def decimal_amount(minor: int, currency: str) -> Decimal:
    """Minor units as a decimal with the currency's own number of digits."""
    return Decimal(minor).scaleb(-DIGITS[currency])


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a product; price in minor units of the shop's currency (USD)."""

    id: int
    title: str
    sku: str
    price_minor: int
    compare_at_minor: int | None
    inventory: int
    position: int


@dataclass(frozen=True, slots=True)
class Product:
    """One product with its variants; times are epoch seconds."""

    id: int
    title: str
    handle: str
    status: str
    vendor: str
    product_type: str
    tags: tuple[str, ...]
    created_at: int
    updated_at: int
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Refund:
    """One refund at the processor. Only `succeeded` takes money back; `failed` ones came to nothing."""

    id: str
    at: int
    amount_minor: int
    status: str = "succeeded"
    reason: str | None = "requested_by_customer"


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment at the processor. `intent_id` names it everywhere; `status` is captured, authorized or failed.

    `invoice_id`, `subscription_id`, `sequence_no` and `billing_reason` (create, cycle, update, manual) are
    set for payments of subscriptions. `reported` marks those the shop's own server also reports.
    """

    intent_id: str
    charge_id: str
    person: int | None
    at: int
    amount_minor: int
    currency: str
    status: str
    known: Known
    refunds: tuple[Refund, ...] = ()
    subscription_id: str | None = None
    invoice_id: str | None = None
    sequence_no: int | None = None
    billing_reason: str | None = None
    reported: bool = False
    description: str = "Order"

    @property
    def net_minor(self) -> int:
        """Captured less refunded, never under zero."""
        taken = sum(refund.amount_minor for refund in self.refunds if refund.status == "succeeded")
        return max(0, self.amount_minor - taken) if self.status == "captured" else 0


@dataclass(frozen=True, slots=True)
class OrderLine:
    """One line of an order; price of one piece in minor units of the order's currency."""

    id: int
    product_id: int
    variant_id: int
    sku: str
    title: str
    quantity: int
    price_minor: int


@dataclass(frozen=True, slots=True)
class Order:
    """One store order. Amounts are minor units of `currency`, the shop's; `presented_*` what the buyer saw.

    `intent_id` is the processor's payment when the order was paid there; otherwise `gateway` took the money.
    `carries` names the click that the order's own attributes show, as (click id type, click id, ad id, second).
    """

    id: int
    name: str
    person: int | None
    created_at: int
    updated_at: int
    financial_status: str
    fulfilled: bool
    gateway: str
    intent_id: str | None
    currency: str
    subtotal_minor: int
    discount_minor: int
    shipping_minor: int
    tax_minor: int
    refunded_minor: int
    presented_currency: str
    presented_total_minor: int
    known: Known
    lines: tuple[OrderLine, ...]
    carries: tuple[str, str, str, int] | None = None
    cancelled_at: int | None = None

    @property
    def total_minor(self) -> int:
        return self.subtotal_minor - self.discount_minor + self.shipping_minor + self.tax_minor


@dataclass(frozen=True, slots=True)
class Rate:
    """1 `base` = `rate` `quote`, as published for a business day."""

    day: date
    base: str
    quote: str
    rate: Decimal


@dataclass(frozen=True, slots=True)
class Subscription:
    """One subscription; its payments name it. `status` is active or canceled."""

    id: str
    person: int
    customer_id: str
    created_at: int
    status: str
    amount_minor: int
    currency: str
