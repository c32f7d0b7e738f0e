"""What the processor's events amount to: all of a workspace's, in the order in which they happened there.

Deliveries come late, twice and out of order. So nothing is added up as it arrives: the paid part of a subscription is
computed anew from every event that is kept, and any order of arrival ends in the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from api.models import HookDelivery
from api.plans import PLANS

# of one second, in which the processor says several things: causes before what follows from them
_RANK = {
    "customer.subscription.created": 0,
    "checkout.session.expired": 1,
    "checkout.session.async_payment_failed": 2,
    "checkout.session.completed": 3,
    "checkout.session.async_payment_succeeded": 4,
    "invoice.payment_failed": 5,
    "invoice.paid": 6,
    "customer.subscription.updated": 7,
    "customer.subscription.deleted": 8,
}
_UNPAID = frozenset({"past_due", "unpaid", "paused"})
_OVER = frozenset({"canceled", "incomplete_expired"})


@dataclass
class Paid:
    """One subscription at the processor. `status` is null until its first payment."""

    ref: str
    status: str | None = None
    plan: str | None = None
    customer_ref: str | None = None
    period_start: datetime | None = None
    period_end: datetime | None = None
    cancel_at: datetime | None = None
    past_due_since: datetime | None = None
    began: datetime | None = None
    ended: datetime | None = None

    @property
    def is_live(self) -> bool:
        return self.status in {"active", "past_due"}


def ordered(deliveries: Iterable[HookDelivery]) -> list[HookDelivery]:
    """Events as they happened at the processor, whatever the order of their arrival."""
    return sorted(deliveries, key=lambda one: (one.occurred_at, _RANK.get(one.kind, 0), one.delivery_id))


def subscriptions(deliveries: Iterable[HookDelivery], plan_of: Mapping[str, str]) -> list[Paid]:
    """Every subscription that a workspace's events tell of; `plan_of` gives the plan of a price."""
    found: dict[str, Paid] = {}
    for one in ordered(deliveries):
        ref = one.facts.get("subscription_ref")
        if ref:
            _happen(found.setdefault(ref, Paid(ref)), one, plan_of)
    return [paid for paid in found.values() if paid.status is not None and paid.plan in PLANS]


def current(paid: Iterable[Paid]) -> Paid | None:
    """The subscription that counts: the live one that began last, else the one that ended last."""

    def order(one: Paid) -> tuple[bool, datetime, str]:
        moment = one.began if one.is_live else one.ended
        return one.is_live, moment or datetime.min.replace(tzinfo=UTC), one.ref

    return max(paid, key=order, default=None)


def _happen(paid: Paid, event: HookDelivery, plan_of: Mapping[str, str]) -> None:
    facts = event.facts
    paid.customer_ref = facts.get("customer_ref") or paid.customer_ref
    # a price is what is paid for; the mark is what was asked for at the checkout
    paid.plan = plan_of.get(facts.get("price", "")) or paid.plan or facts.get("plan")
    if event.kind.startswith("customer.subscription."):
        paid.period_start, paid.period_end = _moment(facts, "period_start"), _moment(facts, "period_end")
        paid.cancel_at = _moment(facts, "cancel_at")
    status = _status(paid, event)
    if paid.ended is not None:
        return
    if _is_end(event):
        paid.ended = event.occurred_at
    if status is None:
        return
    paid.past_due_since = (paid.past_due_since or event.occurred_at) if status == "past_due" else None
    paid.began = paid.began or event.occurred_at
    paid.status = status


def _status(paid: Paid, event: HookDelivery) -> str | None:
    """The status that an event leads to; None where it leads nowhere."""
    kind, state = event.kind, event.facts.get("state")
    if _is_end(event):
        return "canceled" if paid.is_live else None
    if kind in {"invoice.paid", "checkout.session.async_payment_succeeded"}:
        return "active"
    if kind == "checkout.session.completed":
        return "active" if event.facts.get("is_paid") else None
    if kind == "invoice.payment_failed" or (kind == "customer.subscription.updated" and state in _UNPAID):
        return "past_due" if paid.is_live else None
    if kind == "customer.subscription.updated" and state in {"active", "trialing"}:
        return "active"
    return None


def _is_end(event: HookDelivery) -> bool:
    return event.kind == "customer.subscription.deleted" or event.facts.get("state") in _OVER


def _moment(facts: Mapping[str, Any], name: str) -> datetime | None:
    second = facts.get(name)
    return datetime.fromtimestamp(second, UTC) if second is not None else None
