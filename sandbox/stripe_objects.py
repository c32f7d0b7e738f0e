"""The world's payments in Stripe's own objects, as its API of 2026 writes them.

Every object is live (`livemode` true): to the shop this processor is real, and test payments are not money.
"""

from __future__ import annotations

from typing import Any

from sandbox.money import Payment, Refund, Subscription
from sandbox.people import Person

Object = dict[str, Any]
REASONS = {"create": "subscription_create", "cycle": "subscription_cycle", "update": "subscription_update"}
INTENT_STATUS = {"captured": "succeeded", "authorized": "requires_capture", "failed": "requires_payment_method"}


def payment_intent(row: Payment) -> Object:
    """One payment intent; a failed one kept its failed charge as `latest_charge`."""
    received = row.amount_minor if row.status == "captured" else 0
    return {
        "id": row.intent_id,
        "object": "payment_intent",
        "amount": row.amount_minor,
        "amount_capturable": row.amount_minor if row.status == "authorized" else 0,
        "amount_received": received,
        "capture_method": "manual" if row.status == "authorized" else "automatic",
        "created": row.at,
        "currency": row.currency.lower(),
        "customer": row.known.payment_customer_id,
        "description": row.description,
        "last_payment_error": _failure(row) if row.status == "failed" else None,
        "latest_charge": row.charge_id,
        "livemode": True,
        "metadata": {},
        "payment_method_types": ["card"],
        "receipt_email": row.known.email,
        "status": INTENT_STATUS[row.status],
    }


def _failure(row: Payment) -> Object:
    return {
        "charge": row.charge_id,
        "code": "card_declined",
        "decline_code": "insufficient_funds",
        "message": "Your card has insufficient funds.",
        "type": "card_error",
    }


def charge(row: Payment) -> Object:
    """One charge; `amount_refunded` counts only refunds that succeeded."""
    captured = row.status == "captured"
    refunded = row.amount_minor - row.net_minor if captured else 0
    failed = row.status == "failed"
    return {
        "id": row.charge_id,
        "object": "charge",
        "amount": row.amount_minor,
        "amount_captured": row.amount_minor if captured else 0,
        "amount_refunded": refunded,
        "billing_details": {"address": None, "email": row.known.email, "name": None, "phone": row.known.phone},
        "captured": captured,
        "created": row.at,
        "currency": row.currency.lower(),
        "customer": row.known.payment_customer_id,
        "description": row.description,
        "disputed": False,
        "failure_code": "card_declined" if failed else None,
        "failure_message": "Your card has insufficient funds." if failed else None,
        "livemode": True,
        "metadata": {},
        "outcome": {"network_status": "declined_by_network" if failed else "approved_by_network"},
        "paid": not failed,
        "payment_intent": row.intent_id,
        "payment_method_details": {"card": {"brand": "visa", "country": None}, "type": "card"},
        "receipt_email": row.known.email,
        "refunded": captured and row.net_minor == 0,
        "status": "failed" if failed else "succeeded",
    }


def refund(row: Refund, payment: Payment) -> Object:
    """One refund of a payment."""
    return {
        "id": row.id,
        "object": "refund",
        "amount": row.amount_minor,
        "charge": payment.charge_id,
        "created": row.at,
        "currency": payment.currency.lower(),
        "failure_reason": "expired_or_canceled_card" if row.status == "failed" else None,
        "metadata": {},
        "payment_intent": payment.intent_id,
        "reason": row.reason,
        "status": row.status,
    }


def customer(row: Person, created: int) -> Object:
    """One customer; `created` is the second of their first payment."""
    return {
        "id": row.payment_customer_id,
        "object": "customer",
        "created": created,
        "currency": row.currency.lower(),
        "delinquent": False,
        "description": None,
        "email": row.email,
        "livemode": True,
        "metadata": {},
        "name": f"{row.first_name} {row.last_name}",
        "phone": row.phone,
    }


def subscription(row: Subscription, latest: Payment) -> Object:
    """One subscription with its single item and the invoice of its latest payment."""
    price = {
        "id": "price_1TrailBoxMonthly",
        "object": "price",
        "currency": row.currency.lower(),
        "recurring": {"interval": "month", "interval_count": 1},
        "unit_amount": row.amount_minor,
    }
    item = {"id": f"si_{row.id[4:]}", "object": "subscription_item", "price": price, "quantity": 1}
    url = f"/v1/subscription_items?subscription={row.id}"
    items = {"object": "list", "data": [item], "has_more": False, "url": url}
    return {
        "id": row.id,
        "object": "subscription",
        "cancel_at_period_end": False,
        "canceled_at": latest.at if row.status == "canceled" else None,
        "collection_method": "charge_automatically",
        "created": row.created_at,
        "currency": row.currency.lower(),
        "customer": row.customer_id,
        "items": items,
        "latest_invoice": latest.invoice_id,
        "livemode": True,
        "metadata": {},
        "start_date": row.created_at,
        "status": row.status,
    }


def invoice_payment(row: Payment) -> Object:
    """The record that joins an invoice to the payment intent that paid it."""
    return {
        "id": f"inpay_{(row.invoice_id or '')[3:]}",
        "object": "invoice_payment",
        "amount_paid": row.amount_minor,
        "amount_requested": row.amount_minor,
        "created": row.at,
        "currency": row.currency.lower(),
        "invoice": row.invoice_id,
        "is_default": True,
        "livemode": True,
        "payment": {"payment_intent": row.intent_id, "type": "payment_intent"},
        "status": "paid",
        "status_transitions": {"canceled_at": None, "paid_at": row.at},
    }


def invoice(row: Payment, *, with_payments: bool) -> Object:
    """One paid invoice of a subscription; its payments are there only when the caller expands them."""
    body: Object = {
        "id": row.invoice_id,
        "object": "invoice",
        "amount_due": row.amount_minor,
        "amount_paid": row.amount_minor,
        "amount_remaining": 0,
        "attempted": True,
        "billing_reason": REASONS[row.billing_reason or "cycle"],
        "collection_method": "charge_automatically",
        "created": row.at,
        "currency": row.currency.lower(),
        "customer": row.known.payment_customer_id,
        "customer_email": row.known.email,
        "livemode": True,
        "metadata": {},
        "parent": {
            "quote_details": None,
            "subscription_details": {"metadata": {}, "subscription": row.subscription_id},
            "type": "subscription_details",
        },
        "period_end": row.at,
        "period_start": row.at,
        "status": "paid",
        "status_transitions": {"finalized_at": row.at, "paid_at": row.at},
        "total": row.amount_minor,
    }
    if with_payments:
        url = f"/v1/invoice_payments?invoice={row.invoice_id}"
        body["payments"] = {"object": "list", "data": [invoice_payment(row)], "has_more": False, "url": url}
    return body
