"""Deliveries of Shopify: whether they are signed, and the facts of them that we act on."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from werkzeug.datastructures import Headers

from api.warehouse_ids import identifier_id
from data_contracts.formats import FORMATS, Refused

LONGEST = 160

Facts = dict[str, Any]


@dataclass(frozen=True)
class Delivery:
    """One delivery: `id` of it and `event_id` of what happened, of which several deliveries may tell."""

    id: str
    event_id: str | None
    topic: str
    shop: str
    at: datetime
    facts: Facts = field(default_factory=dict)


def is_signed(secrets: Iterable[str], header: str, body: bytes) -> bool:
    """Whether `X-Shopify-Hmac-Sha256` fits the bytes of the body under one of the app's secrets."""
    given = header.strip().encode("utf-8", "replace")
    # all are tried, so that the time tells nothing
    fits = [
        hmac.compare_digest(base64.b64encode(hmac.digest(secret.encode(), body, hashlib.sha256)), given)
        for secret in secrets
    ]
    return any(fits)


def read(headers: Headers, body: Any, *, profile_id: str, now: datetime) -> Delivery:
    """The delivery that these headers and this parsed body are. Raises ValueError for what is none.

    The store renamed the header of the delivery's id once; whichever is there counts. People are told by the ids of
    their identifiers (`api.warehouse_ids`), under `profile_id`.
    """
    event_id = headers.get("X-Shopify-Event-Id", "")[:LONGEST] or None
    topic, number = headers.get("X-Shopify-Topic", "")[:80], headers.get("X-Shopify-Webhook-Id", "")[:LONGEST]
    if not number and event_id:
        # one event may have deliveries of several topics
        number = f"{event_id}:{topic}"
    if not isinstance(body, dict) or not topic or not number:
        raise ValueError("no delivery of a store")
    reader = _READERS.get(topic) or _READERS.get(topic.partition("/")[0])
    facts = reader(body, profile_id) if reader else {}
    at = _time(headers.get("X-Shopify-Triggered-At"))
    shop = headers.get("X-Shopify-Shop-Domain", "") or str(body.get("shop_domain") or "")
    return Delivery(number, event_id, topic, shop[:255], at if at and at < now else now, facts)


def _product(body: Mapping[str, Any], _: str) -> Facts:
    return {"product_id": _id(body.get("id")), "updated_at": _told(body.get("updated_at"))}


def _order(body: Mapping[str, Any], _: str) -> Facts:
    return {"order_id": _id(body.get("id")), "updated_at": _told(body.get("updated_at"))}


def _subscription(body: Mapping[str, Any], _: str) -> Facts:
    about = body.get("app_subscription")
    told = about if isinstance(about, dict) else {}
    # older versions of the storefront's interface tell a plan by its shown name alone
    plan = told.get("plan_handle") or told.get("name")
    return {
        "subscription_ref": _id(told.get("admin_graphql_api_id")),
        "state": str(told["status"])[:16].upper() if told.get("status") else None,
        "plan": plan.strip().lower()[:32] if isinstance(plan, str) else None,
        "begun_at": _told(told.get("created_at")),
    }


def _person(body: Mapping[str, Any], profile_id: str) -> Facts:
    customer = body.get("customer")
    orders = body.get("orders_to_redact") or body.get("orders_requested") or []
    ids = [_identifier(profile_id, kind, customer) for kind in ("email", "phone")]
    return {
        "identifiers": [one for one in ids if one is not None],
        "orders": [_id(one) for one in orders] if isinstance(orders, list) else [],
    }


def _identifier(profile_id: str, kind: str, customer: Any) -> str | None:
    value = customer.get(kind) if isinstance(customer, dict) else None
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        return identifier_id(profile_id, kind, FORMATS[kind](value.strip()))
    except Refused:
        return None


def _id(value: Any) -> str | None:
    return str(value)[:LONGEST] if isinstance(value, int | str) and value != "" else None


def _told(value: Any) -> str | None:
    at = _time(value)
    return at.isoformat() if at else None


def _time(value: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at.astimezone(UTC) if at and at.tzinfo else None
    except (ValueError, OverflowError):
        return None


_READERS: Mapping[str, Callable[[Mapping[str, Any], str], Facts]] = {
    "products": _product,
    "orders": _order,
    "app_subscriptions/update": _subscription,
    "customers/data_request": _person,
    "customers/redact": _person,
}
