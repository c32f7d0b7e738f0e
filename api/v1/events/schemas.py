"""What POST /events and DELETE /events/{idempotency_key} accept and answer, field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson
from marshmallow import INCLUDE, Schema, ValidationError, fields, post_load, validates_schema

from api import auth, context
from api.arguments import depth
from api.bodies import Email, Instant, Phone, Text
from api.db import now, transaction
from api.goals import Goal, goals_of
from api.v1.events.records import sent

ANSWERS = (
    "social_ad", "search_ad", "video_ad", "other_ad", "search_engine", "social_post", "influencer", "friend", "chat",
    "email", "press", "podcast", "tv_radio", "outdoor", "event", "walk_in", "returning", "other",
)  # fmt: skip
VISIBLE = ("published", "next_snapshot", "never")
_EVENT_NAME = re.compile("[A-Za-z0-9_]{1,64}")
_NAME = "Lists show the name that was told last, by an event or by a file of the set `people`."
MOST_BYTES = 16 * 1024
DEEPEST = 5
MOST_CLICK_IDS = 16


def _few(ids: Mapping[str, str]) -> None:
    # validate.Length would be told as a length of text
    if len(ids) > MOST_CLICK_IDS:
        raise ValidationError(f"holds more than {MOST_CLICK_IDS} ids")


class Amount(fields.Field[Any]):
    """A number, or a decimal number as text; loads unchanged, for the judge to type."""

    def __init__(self, *, description: str) -> None:
        described = {
            "type": ["number", "string"],
            "minimum": 0,
            "exclusiveMaximum": 10**14,
            "pattern": r"^[0-9]{1,14}(\.[0-9]{1,4})?$",
            "description": description,
        }
        super().__init__(load_default=None, metadata=described)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
            raise ValidationError("must be a number, or a decimal number as text")
        return value


class Flag(fields.Boolean):
    """true or false, not a word for it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return value


class UserTraits(Schema):
    email = Email(load_default=None)
    phone = Phone(load_default=None, metadata={"description": "E.164."})
    first_name = Text(120, load_default=None, metadata={"description": _NAME})
    last_name = Text(120, load_default=None, metadata={"description": _NAME})
    external_id = Text(128, load_default=None, metadata={"description": "Your own id of the person."})


class Customer(Schema):
    external_ref = Text(
        128, load_default=None, metadata={"description": "Own id of somebody known, as user_traits.external_id."}
    )
    email = Email(load_default=None)
    phone = Phone(load_default=None, metadata={"description": "E.164."})

    @validates_schema
    def _names_somebody(self, data: Mapping[str, Any], **_: Any) -> None:
        if not any(data.values()):
            raise ValidationError("needs external_ref, email or phone")


class Properties(Schema):
    """Free, but for the members that are read."""

    class Meta:
        unknown = INCLUDE

    value = Amount(description="At least 0, at most 4 decimals; as text if it has decimals and more than 15 digits.")
    currency = Text(3, low=3, load_default=None, metadata={"description": "ISO 4217."})
    order_id = Text(
        190,
        load_default=None,
        metadata={
            "description": "Own id of the order; names a payment without payment_ref, and the payment that a"
            " refund lowers."
        },
    )
    payment_ref = Text(255, load_default=None, metadata={"description": "As provider:id."})
    subscription_ref = Text(
        200, load_default=None, metadata={"description": "The subscription it belongs to; kept, and decides nothing."}
    )
    refunds_payment_ref = Text(255, load_default=None, metadata={"description": "The payment a refund lowers."})
    is_test = Flag(load_default=None, metadata={"description": "true: answered as any event, and never counted."})

    @validates_schema(pass_original=True)
    def _is_small(self, _data: Any, original: Any, **_: Any) -> None:
        if depth(original) > DEEPEST:
            raise ValidationError(f"is nested deeper than {DEEPEST} levels")
        if len(orjson.dumps(original)) > MOST_BYTES:
            raise ValidationError(f"is larger than {MOST_BYTES} bytes")


def _label(name: str) -> Text:
    return Text(255, load_default=None, metadata={"description": f"utm_{name}; a label, which never decides the ad."})


Utm = Schema.from_dict(
    {name: _label(name) for name in ("source", "medium", "campaign", "content", "term", "id")}, name="Utm"
)


class Ad(Schema):
    platform = Text(32, low=2, load_default=None, metadata={"description": "Slug, such as meta or google."})
    ad_id = Text(
        128, load_default=None, metadata={"description": "The ad, by its platform's id; it may be synced later."}
    )
    ad_set_id = Text(128, load_default=None, metadata={"description": "The ad set, by its platform's id."})
    campaign_id = Text(128, load_default=None, metadata={"description": "The campaign, by its platform's id."})


class DeclaredSource(Schema):
    answer_key = Text(64, required=True, metadata={"description": f"One of {', '.join(ANSWERS)}."})
    answer_text = Text(4000, load_default=None, metadata={"description": "Needed with `other`."})

    @validates_schema
    def _other_is_told(self, data: Mapping[str, Any], **_: Any) -> None:
        if data["answer_key"] == "other" and data["answer_text"] is None:
            raise ValidationError("is needed with answer_key other", "answer_text")


def _is_event_name(text: str) -> None:
    if not _EVENT_NAME.fullmatch(text):
        raise ValidationError("must be 1 to 64 letters, digits and underscores")


class EventBody(Schema):
    """One event; it is judged by `known` goals, by those of the calling profile when none are given."""

    def __init__(self, *, known: Sequence[Goal] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.known = known

    event_name = fields.String(
        required=True,
        validate=_is_event_name,
        metadata={
            "pattern": "^[A-Za-z0-9_]{1,64}$",
            "description": "A goal maps it to a conversion type; refund_issued lowers a payment.",
        },
    )
    timestamp = Instant(load_default=None, metadata={"description": "When it happened; now when not sent."})
    idempotency_key = Text(
        255, load_default=None, metadata={"description": "Own id of the event, for ever; else the header's value."}
    )
    anonymous_id = Text(128, load_default=None, metadata={"description": "The tracker's id of the visitor."})
    session_id = Text(
        128, load_default=None, metadata={"description": "The tracker's id of the visit; kept, and decides nothing."}
    )
    user_traits = fields.Nested(UserTraits, load_default=None, metadata={"description": "Creates or joins a person."})
    customer = fields.Nested(Customer, load_default=None, metadata={"description": "Names somebody known."})
    properties = fields.Nested(
        Properties,
        load_default=None,
        metadata={
            "description": "What the event says of itself; a payment needs value, currency and payment_ref or order_id."
        },
    )
    utm = fields.Nested(
        Utm,
        load_default=None,
        metadata={"description": "Campaign parameters of the visit that led to it; labels alone."},
    )
    click_ids = fields.Dict(
        keys=Text(32),
        values=Text(1024),
        load_default=None,
        validate=_few,
        metadata={
            "maxProperties": MOST_CLICK_IDS,
            "description": "Click ids by name, such as gclid or fbclid, also the cookie fbc; of several the"
            " surest is used.",
        },
    )
    ad = fields.Nested(Ad, load_default=None, metadata={"description": "The ad that the event itself names."})
    touch_at = Instant(load_default=None, metadata={"description": "When the ad's parameters were gained."})
    conversation_id = Text(128, load_default=None, metadata={"description": "Chat conversation whose lead this is."})
    declared_source = fields.Nested(DeclaredSource, load_default=None, metadata={"description": "A survey's answer."})

    @post_load
    def _judged(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        known = self.known if self.known is not None else _goals_of_caller()
        return {**data, "sent": sent(data, now(), known)}


def _goals_of_caller() -> Sequence[Goal]:
    profile_id = auth.current().profile.id
    with transaction(context.settings().operational_url, durable=False) as reading:
        return goals_of(reading, profile_id)


class IngestedEvent(Schema):
    event_id = fields.String(
        required=True,
        metadata={"format": "uuid", "description": "The event, by our id; the same for the same key, for ever."},
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": ["accepted", "duplicate"],
            "description": "duplicate: the same key and content had come before.",
        },
    )
    conversion_type = fields.String(
        required=True, allow_none=True, metadata={"description": "Null when no goal names the event, and on refunds."}
    )
    customer_key = fields.String(
        required=True, allow_none=True, metadata={"description": "Null until the person is in a published snapshot."}
    )
    idempotency_key = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Its key, the body's or else the header's; null where none was sent."},
    )
    visible = fields.String(
        required=True, metadata={"enum": list(VISIBLE), "description": "Where reads show it; never: a test event."}
    )
    visible_by = fields.String(
        required=True,
        allow_none=True,
        metadata={"format": "date-time", "description": "When the next snapshot is expected; null when not known."},
    )


class RetractedEvent(Schema):
    idempotency_key = fields.String(required=True, metadata={"description": "Its key."})
    event_id = fields.String(required=True, metadata={"format": "uuid"})
    status = fields.String(
        required=True,
        metadata={
            "enum": ["retracted", "already_retracted"],
            "description": "already_retracted: it had been before this call.",
        },
    )
    retracted_at = fields.String(
        required=True, metadata={"format": "date-time", "description": "When it was first taken back."}
    )
