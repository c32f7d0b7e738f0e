"""What the exports routes take and answer, member by member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.bodies import NeedsOne, Text
from api.body_fields import Flag, Uuid
from api.exports.destinations import KINDS, STATES, TARGETS
from api.exports.gates import SKIP_REASONS
from api.fields import Choice
from api.models.export import STATUSES
from api.op_lists import ListQuery
from api.served import CONVERSION_TYPES

_KNOWN = validate.OneOf(CONVERSION_TYPES, error=f"must be one of {', '.join(CONVERSION_TYPES)}")
_PIXEL = validate.Regexp(r"^[0-9]{1,20}\Z", error="must be the number of a pixel")
_FORMS = {"pattern": "^[0-9]{1,20}$"}


class TypeList(fields.List[str]):
    """Conversion types; loads each once, in the order of `CONVERSION_TYPES`."""

    def __init__(self, **kwargs: Any) -> None:
        some = validate.Length(1, 20, error="must name 1 to 20 types")
        super().__init__(fields.String(validate=_KNOWN), validate=some, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        named = super()._deserialize(value, attr, data, **kwargs)
        return [name for name in CONVERSION_TYPES if name in named]


class _Settings(Schema):
    """What is set on a destination; of the three targets the one of its kind."""

    meta_pixel_id = fields.String(validate=_PIXEL, metadata=_FORMS)
    google_conversion_action = Text(128)
    tiktok_pixel_code = Text(64)
    test_event_code = Text(64, allow_none=True, metadata={"description": "Null takes it away."})
    conversion_types = TypeList()
    send_value = Flag()


class DestinationBody(_Settings):
    """A new destination."""

    kind = fields.String(required=True, validate=validate.OneOf(KINDS, error=f"must be one of {', '.join(KINDS)}"))
    name = Text(80, required=True)
    connection_id = Uuid(required=True)
    conversion_types = TypeList(required=True)
    send_value = Flag(load_default=True)
    enabled = Flag(load_default=True)

    @validates_schema
    def _own_target(self, data: Mapping[str, Any], **_: Any) -> None:
        own = TARGETS[data["kind"]]
        if own not in data:
            raise ValidationError(f"is required of {data['kind']}", own)
        refuse_foreign(data, data["kind"])


class DestinationChanges(NeedsOne, _Settings):
    """What to change; a member left out keeps its value."""

    name = Text(80)
    connection_id = Uuid()
    enabled = Flag()


def refuse_foreign(data: Mapping[str, Any], kind: str) -> None:
    """ValidationError for a target that another kind has."""
    for name in TARGETS.values():
        if name in data and name != TARGETS[kind]:
            raise ValidationError(f"belongs to another kind than {kind}", name)


class DestinationShape(Schema):
    """One place at an ad platform that conversions go to."""

    is_paged = True

    id = fields.UUID(required=True)
    kind = fields.String(required=True, metadata={"enum": list(KINDS)})
    name = fields.String(required=True)
    enabled = fields.Boolean(required=True)
    status = fields.String(required=True, metadata={"enum": list(STATES)})
    status_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Why it is not ok. Disabled: person, privacy_mode, failing_24h or archived; blocked: the"
            " status of its connection, or no_token; failing: why the last event failed, as a slug. Null where ok."
        },
    )
    connection_id = fields.UUID(required=True, allow_none=True)
    meta_pixel_id = fields.String(metadata={"description": "Of meta_capi."})
    google_conversion_action = fields.String(metadata={"description": "Of google_conversions."})
    tiktok_pixel_code = fields.String(metadata={"description": "Of tiktok_events."})
    test_event_code = fields.String(required=True, allow_none=True)
    conversion_types = fields.List(fields.String(), required=True)
    send_value = fields.Boolean(required=True)
    consecutive_failures = fields.Integer(required=True)
    last_sent_at = fields.DateTime(required=True, allow_none=True)
    created_at = fields.DateTime(required=True)
    updated_at = fields.DateTime(required=True)


class DestinationDeleted(Schema):
    id = fields.UUID(required=True)
    deleted = fields.Boolean(required=True)


class TestBody(Schema):
    test_event_code = Text(64, metadata={"description": "Instead of the destination's own."})


class TestAnswer(Schema):
    """What the platform said to an event that counts for nothing."""

    accepted = fields.Boolean(required=True)
    provider_status = fields.Integer(required=True, allow_none=True, metadata={"description": "Its HTTP status."})
    message = fields.String(required=True)


class LedgerQuery(ListQuery):
    destination_id = fields.UUID(load_default=None, metadata={"description": "Only exports to this destination."})
    status = Choice(STATUSES, load_default=None, metadata={"description": "Only exports that stand so."})


class LedgerRow(Schema):
    """One conversion at one destination; nobody is named."""

    is_paged = True

    export_id = fields.UUID(required=True)
    destination_id = fields.UUID(required=True)
    conversion_id = fields.UUID(required=True)
    event_key = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "As GET /conversions/list tells it, of the published snapshot."},
    )
    conversion_type = fields.String(required=True)
    status = fields.String(required=True, metadata={"enum": list(STATUSES)})
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": f"Why it was skipped: {', '.join(SKIP_REASONS)}. Why it failed, or the last attempt of"
            " one that still waits: the platform's refusal as a slug. Else null."
        },
    )
    attempts = fields.Integer(required=True)
    created_at = fields.DateTime(required=True)
    next_attempt_at = fields.DateTime(required=True, allow_none=True)
    sent_at = fields.DateTime(required=True, allow_none=True)
