"""What the webhook routes accept and answer, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.bodies import NeedsOne, Text
from api.body_fields import Uuid
from api.fields import Choice
from api.op_lists import ListQuery
from api.webhooks.egress import LONGEST_URL, NotPublicError, check, one_spelling
from api.webhooks.kinds import EVERY, KINDS

STATUSES = ("active", "paused", "failed")
DELIVERY_STATUSES = ("pending", "delivered", "retrying", "dead")
MOST_EVENTS = 20
LONGEST_GRACE_DAYS = 90


class Address(Text):
    """An https address that leads to a public machine; it is looked up."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            LONGEST_URL, metadata={"description": "https on port 443, of a public machine.", "format": "uri"}, **kwargs
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        url = super()._deserialize(value, attr, data, **kwargs)
        try:
            check(url)
        except NotPublicError as refused:
            raise ValidationError(str(refused)) from None
        return one_spelling(url)


class Kinds(fields.List[str]):
    """Kinds of events, each once, or `*`."""

    def __init__(self, **kwargs: Any) -> None:
        known = (EVERY, *KINDS)
        member = fields.String(validate=validate.OneOf(known, error="is no kind of event"))
        several = validate.Length(1, MOST_EVENTS, error=f"must name 1 to {MOST_EVENTS} kinds")
        super().__init__(member, validate=several, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return list(dict.fromkeys(super()._deserialize(value, attr, data, **kwargs)))


class NewSubscription(Schema):
    url = Address(required=True)
    events = Kinds(
        required=True, metadata={"description": "Kinds of events, or `*` for every one; docs/webhooks.md lists them."}
    )


class SubscriptionChange(NeedsOne):
    url = Address()
    events = Kinds(metadata={"description": "Kinds of events, or `*` for every one; in place of those before."})
    status = fields.String(
        validate=validate.OneOf(("active", "paused"), error="must be active or paused"),
        metadata={"description": "paused is told nothing; active goes on, and revives one that failed."},
    )


class Rotation(Schema):
    grace_days = fields.Integer(
        strict=True,
        load_default=7,
        validate=validate.Range(0, LONGEST_GRACE_DAYS, error=f"must be from 0 to {LONGEST_GRACE_DAYS}"),
        metadata={"description": "Days for which the old secret signs too."},
    )


class WebhookShape(Schema):
    """One subscription, without its secret."""

    id = fields.String(required=True, metadata={"format": "uuid", "description": "The subscription."})
    workspace_id = fields.String(required=True, metadata={"format": "uuid"})
    profile_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Null: every profile of the workspace."}
    )
    app_id = fields.String(
        required=True, allow_none=True, metadata={"description": "The app whose key made it; null where no app's did."}
    )
    url = fields.String(required=True, metadata={"description": "Where events are sent."})
    events = fields.List(
        fields.String(), required=True, metadata={"description": "Kinds of events that are sent, or `*` for every one."}
    )
    status = fields.String(
        required=True, metadata={"enum": list(STATUSES), "description": "Only an active one is told anything."}
    )
    failure_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "gone or unreachable, of a failed one; null otherwise."},
    )
    consecutive_failures = fields.Integer(required=True, metadata={"description": "Attempts since the last success."})
    last_delivery_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When its address last accepted an event; null before."},
    )
    previous_secret_expires_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "Until when the secret before signs too; null where there is none."},
    )
    created_at = fields.DateTime(required=True)
    updated_at = fields.DateTime(required=True)


class WebhookRow(WebhookShape):
    is_paged = True


class CreatedWebhook(WebhookShape):
    secret = fields.String(
        required=True, allow_none=True, metadata={"description": "`whsec_…`, shown this once; null in a replay."}
    )


class WebhookSecret(Schema):
    secret = fields.String(
        required=True, allow_none=True, metadata={"description": "Shown this once; null in a replay."}
    )
    previous_secret_expires_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "Until when the secret before signs too; null where it ended at once."},
    )


class WebhookDeleted(Schema):
    deleted = fields.Boolean(required=True, metadata={"description": "Always true."})


class WebhookQueued(Schema):
    event_id = fields.String(required=True, metadata={"format": "uuid"})


class DeliveriesQuery(ListQuery):
    subscription_id = Uuid(load_default=None, metadata={"description": "Only deliveries to this subscription."})
    status = Choice(DELIVERY_STATUSES, load_default=None, metadata={"description": "Only those."})


class WebhookDeliveryRow(Schema):
    """One event on its way to one subscription."""

    is_paged = True

    delivery_id = fields.String(required=True, metadata={"format": "uuid", "description": "The delivery."})
    event_id = fields.String(required=True, metadata={"format": "uuid", "description": "`webhook-id` of the delivery."})
    type = fields.String(required=True, metadata={"description": "Kind of the event; docs/webhooks.md lists them."})
    status = fields.String(
        required=True,
        metadata={
            "enum": list(DELIVERY_STATUSES),
            "description": "retrying: tried before, and to be tried again; dead: given up, or refused with 410.",
        },
    )
    attempts = fields.Integer(
        required=True, metadata={"description": "How often it was tried; it is given up after ten."}
    )
    last_status = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Status that the receiver answered; null before, and without an answer."},
    )
    last_error = fields.String(
        required=True, allow_none=True, metadata={"description": "Why there was no answer; null otherwise."}
    )
    next_attempt_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When it is tried next; null once it is delivered or dead."},
    )
    created_at = fields.DateTime(required=True)


class WebhookReplayed(Schema):
    delivery_id = fields.String(required=True, metadata={"format": "uuid", "description": "The new delivery."})
    event_id = fields.String(required=True, metadata={"format": "uuid", "description": "The same event."})
