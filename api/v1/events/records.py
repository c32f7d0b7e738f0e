"""From the body of POST /events to one row of `conversions`: the same judge as for files has the last word."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marshmallow import ValidationError

from api import click_ids, goals
from api.goals import Goal
from data_contracts.contract import inbound
from data_contracts.judge import judge
from data_contracts.records import as_json

UNKEYED = "-"
MONEY = ("value", "currency", "order_id", "payment_ref", "subscription_ref", "refunds_payment_ref")
_FIELD = {
    "occurred_at": "timestamp",
    "ad_platform": "ad.platform",
    "order_ref": "properties.order_id",
    "conversion_key": "idempotency_key",
    "click_id": "click_ids",
    "click_id_type": "click_ids",
    **{name: f"properties.{name}" for name in MONEY},
    **{name: f"ad.{name}" for name in ("ad_id", "ad_set_id", "campaign_id")},
}

Record = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """An event as it was sent: its row without a key, and a digest of everything the caller said in it."""

    record: Record
    fingerprint: str
    conversion_type: str | None
    is_test: bool


def sent(body: Mapping[str, Any], at: datetime, known: Sequence[Goal] = goals.BUILT_IN) -> Sent:
    """The event of a parsed body under the profile's goals; `at` stands in for a timestamp that was not sent.

    Raises ValidationError.
    """
    goal = goals.goal_of_server_event(body["event_name"], known)
    is_refund = body["event_name"] == goals.REFUND
    properties = body["properties"] or {}
    record = _given(
        conversion_key=UNKEYED,
        occurred_at=(body["timestamp"] or at).isoformat(),
        conversion_type=goals.REFUND if is_refund else goals.kept_type(goal),
        event_name=body["event_name"],
        event_origin="server",
        source="server_event",
        conversation_id=body["conversation_id"],
        **_person(body),
        **_money(properties, is_refund),
        **_parameters(body, at),
        **_declared(body["declared_source"] or {}),
        **_beside(body, properties),
    )
    digest = _fingerprint(record, is_dated=body["timestamp"] is not None)
    return Sent(record, digest, goal.conversion_key if goal else None, properties.get("is_test") is True)


def _given(**columns: Any) -> Record:
    return {name: value for name, value in columns.items() if value is not None}


def _person(body: Mapping[str, Any]) -> Record:
    traits, customer = body["user_traits"] or {}, body["customer"] or {}
    both = {
        "email": (traits.get("email"), customer.get("email")),
        "phone": (traits.get("phone"), customer.get("phone")),
        "external_id": (traits.get("external_id"), customer.get("external_ref")),
    }
    for name, (of_traits, of_customer) in both.items():
        if of_traits and of_customer and of_traits != of_customer:
            field = "external_ref" if name == "external_id" else name
            raise ValidationError(f"names another person than user_traits.{name}", f"customer.{field}")
    known = {name: of_traits or of_customer for name, (of_traits, of_customer) in both.items()}
    return {"anonymous_id": body["anonymous_id"], **known}


def _money(properties: Mapping[str, Any], is_refund: bool) -> Record:
    found = {name: properties.get(name) for name in MONEY}
    order = found.pop("order_id")
    if is_refund and found["refunds_payment_ref"] is None and order is not None:
        # a payment of an order is known under this name too, whoever told of it
        found["refunds_payment_ref"] = f"order:{order}"
    return {**found, "order_ref": order}


def _parameters(body: Mapping[str, Any], at: datetime) -> Record:
    ad, utm = body["ad"] or {}, body["utm"] or {}
    kind, value, clicked_at = click_ids.chosen(body["click_ids"] or {}, body["timestamp"] or at)
    touch_at: datetime | None = body["touch_at"] or clicked_at
    return {
        "ad_platform": ad.get("platform"),
        **{name: ad.get(name) for name in ("ad_id", "ad_set_id", "campaign_id")},
        **{f"utm_{name}": value for name, value in utm.items()},
        "click_id_type": kind,
        "click_id": value,
        "touch_at": touch_at and touch_at.isoformat(),
    }


def _declared(answer: Mapping[str, Any]) -> Record:
    return {"answer_key": answer.get("answer_key"), "answer_text": answer.get("answer_text")}


def _beside(body: Mapping[str, Any], properties: Mapping[str, Any]) -> Record:
    """What the event said besides, kept raw."""
    traits = body["user_traits"] or {}
    own = {name: value for name, value in properties.items() if name not in MONEY and value is not None}
    return {
        "x_session_id": body["session_id"],
        "x_first_name": traits.get("first_name"),
        "x_last_name": traits.get("last_name"),
        "x_properties": own or None,
        "x_click_ids": body["click_ids"] or None,
    }


def _fingerprint(record: Record, *, is_dated: bool) -> str:
    """Digest of the typed row: 12.5 and "12.50", and one instant in two offsets, are the same content."""
    judged = judge(inbound()["conversions"], [record])
    for wrong in judged.rejected:
        # of the names that a reason may hold, the API has another one for the order's
        reason = wrong.reason.replace("order_ref", "order_id")
        raise ValidationError(reason, _FIELD.get(wrong.field or "", wrong.field or "_schema"))
    row = {name: value for name, value in judged.rows[0].items() if value is not None}
    # what the event counts as follows from its name and from the goals of the day, which are no part of its content
    for name in ("conversion_type", "payment_status", *(() if is_dated else ("occurred_at",))):
        row.pop(name, None)
    return hashlib.sha256(as_json(row).encode()).hexdigest()
