"""Stripe's deliveries: are they Stripe's, and which facts of them we act on.

The body names people and their cards, so it is not kept: of each event we keep what it is about, and of those that
move a subscription the ids, states and moments below. Whoever needs more asks the processor again.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

TOLERANCE = timedelta(minutes=5)
LONGEST = 255
_PART = re.compile(r"(t|v1)=([0-9a-f]+|[0-9]+)")


@dataclass(frozen=True, slots=True)
class Event:
    """One delivery. `facts` is empty for a kind that moves nothing."""

    id: str
    kind: str
    at: datetime
    object_ref: str | None
    facts: dict[str, Any]


def is_signed(secret: str, header: str, body: bytes, at: datetime) -> bool:
    """Whether one of the header's signatures is of these bytes, made within five minutes of `at`."""
    parts = [_PART.fullmatch(part.strip()) for part in header.split(",")]
    found = [(match.group(1), match.group(2)) for match in parts if match]
    moments = [value for name, value in found if name == "t"]
    if len(moments) != 1 or not moments[0].isdigit() or len(moments[0]) > 12:
        return False
    if abs(at.timestamp() - int(moments[0])) > TOLERANCE.total_seconds():
        return False
    expected = hmac.new(secret.encode(), moments[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    # every one is compared: how long it takes says nothing about which one was right
    matches = [hmac.compare_digest(expected, value) for name, value in found if name == "v1"]
    return any(matches)


def read(body: Any) -> Event:
    """The event of a signed, parsed body. Raises ValueError when it is not one."""
    try:
        kind, about = str(body["type"])[:120], body["data"]["object"]
        number, at = str(body["id"]), datetime.fromtimestamp(int(body["created"]), UTC)
        if len(number) > LONGEST or not isinstance(about, dict):
            raise ValueError("not an event")
        reader = _READERS.get(kind)
        facts = {name: value for name, value in reader(about).items() if value is not None} if reader else {}
        return Event(number, kind, at, _text(about.get("id")), facts)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, OSError):
        raise ValueError("not an event") from None


def _session(about: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_marks(about.get("metadata")),
        "subscription_ref": _id(about.get("subscription")),
        "customer_ref": _id(about.get("customer")),
        "is_paid": about.get("payment_status") in {"paid", "no_payment_required"},
    }


def _subscription(about: Mapping[str, Any]) -> dict[str, Any]:
    item = (about.get("items") or {}).get("data", [{}])[0]
    return {
        **_marks(about.get("metadata")),
        "subscription_ref": _text(about.get("id")),
        "customer_ref": _id(about.get("customer")),
        "state": _text(about.get("status")),
        "price": _id(item.get("price")),
        # older versions of the processor's interface had the period on the subscription itself
        "period_start": _second(item.get("current_period_start", about.get("current_period_start"))),
        "period_end": _second(item.get("current_period_end", about.get("current_period_end"))),
        "cancel_at": _cancel_at(about, item),
    }


def _cancel_at(about: Mapping[str, Any], item: Mapping[str, Any]) -> int | None:
    if about.get("cancel_at") is not None:
        return _second(about["cancel_at"])
    if about.get("cancel_at_period_end") is True:
        return _second(item.get("current_period_end", about.get("current_period_end")))
    return None


def _invoice(about: Mapping[str, Any]) -> dict[str, Any]:
    # older versions of the processor's interface had both on the invoice itself
    details = (about.get("parent") or about).get("subscription_details") or {}
    return {
        **_marks(details.get("metadata")),
        "subscription_ref": _id(details.get("subscription", about.get("subscription"))),
        "customer_ref": _id(about.get("customer")),
    }


def _marks(metadata: Any) -> dict[str, Any]:
    """What we wrote on the session when we asked for it."""
    marks = metadata if isinstance(metadata, dict) else {}
    return {name: _text(marks.get(name)) for name in ("workspace_id", "handoff_id", "plan")}


def _id(value: Any) -> str | None:
    return _text(value.get("id") if isinstance(value, dict) else value)


def _text(value: Any) -> str | None:
    return value[:LONGEST] if isinstance(value, str) and value else None


def _second(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**36 else None


_READERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "checkout.session.completed": _session,
    "checkout.session.async_payment_succeeded": _session,
    "checkout.session.async_payment_failed": _session,
    "checkout.session.expired": _session,
    "customer.subscription.created": _subscription,
    "customer.subscription.updated": _subscription,
    "customer.subscription.deleted": _subscription,
    "invoice.paid": _invoice,
    "invoice.payment_failed": _invoice,
}
