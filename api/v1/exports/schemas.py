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
# what both bodies and answers say
_ACCOUNT = "The connection whose account it belongs to and whose access it uses."
_ACTION = "The conversion action; of google_conversions alone."
_CODE = "The pixel's code; of tiktok_events alone."
_DESTINATION = "The destination."
_NAME = "What people call it."
_PIXEL_ID = "The pixel's or dataset's number; of meta_capi alone."
_TYPE = f"{', '.join(CONVERSION_TYPES)}."
_TYPES = f"Which conversions go there, if the catalog lets them: {_TYPE}"
_VALUE = "Whether their value goes with them, where the catalog lets it too."
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

    meta_pixel_id = fields.String(validate=_PIXEL, metadata={**_FORMS, "description": _PIXEL_ID})
    google_conversion_action = Text(128, metadata={"description": _ACTION})
    tiktok_pixel_code = Text(64, metadata={"description": _CODE})
    test_event_code = Text(64, allow_none=True, metadata={"description": "Null takes it away."})
    conversion_types = TypeList(metadata={"description": _TYPES})
    send_value = Flag(metadata={"description": _VALUE})


class DestinationBody(_Settings):
    """A new destination."""

    kind = fields.String(
        required=True,
        validate=validate.OneOf(KINDS, error=f"must be one of {', '.join(KINDS)}"),
        metadata={"description": "Which platform's interface it speaks; it never changes."},
    )
    name = Text(80, required=True, metadata={"description": _NAME})
    connection_id = Uuid(required=True, metadata={"description": _ACCOUNT})
    conversion_types = TypeList(required=True, metadata={"description": _TYPES})
    send_value = Flag(load_default=True, metadata={"description": _VALUE})
    enabled = Flag(
        load_default=True, metadata={"description": "false: it is kept and nothing goes there until it is switched on."}
    )

    @validates_schema
    def _own_target(self, data: Mapping[str, Any], **_: Any) -> None:
        own = TARGETS[data["kind"]]
        if own not in data:
            raise ValidationError(f"is required of {data['kind']}", own)
        refuse_foreign(data, data["kind"])


class DestinationChanges(NeedsOne, _Settings):
    """What to change; a member left out keeps its value."""

    name = Text(80, metadata={"description": _NAME})
    connection_id = Uuid(metadata={"description": _ACCOUNT})
    enabled = Flag(
        metadata={
            "description": "true: forget its failures and queue again what failed in seven days; false: what"
            " waits is skipped."
        }
    )


def refuse_foreign(data: Mapping[str, Any], kind: str) -> None:
    """ValidationError for a target that another kind has."""
    for name in TARGETS.values():
        if name in data and name != TARGETS[kind]:
            raise ValidationError(f"belongs to another kind than {kind}", name)


class DestinationShape(Schema):
    """One place at an ad platform that conversions go to."""

    is_paged = True

    id = fields.UUID(required=True, metadata={"description": _DESTINATION})
    kind = fields.String(
        required=True, metadata={"enum": list(KINDS), "description": "Which platform's interface it speaks."}
    )
    name = fields.String(required=True, metadata={"description": _NAME})
    enabled = fields.Boolean(
        required=True, metadata={"description": "Whether it was switched on; what stands in its way is told by status."}
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATES),
            "description": "ok; failing: the last five exports or more failed; disabled; blocked: its connection"
            " cannot be asked.",
        },
    )
    status_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Why it is not ok. Disabled: person, privacy_mode, failing_24h or archived; blocked: the"
            " status of its connection, or no_token; failing: why the last event failed, as a slug. Null where ok."
        },
    )
    connection_id = fields.UUID(
        required=True, allow_none=True, metadata={"description": f"{_ACCOUNT} Never null: it stays when that ends."}
    )
    meta_pixel_id = fields.String(metadata={"description": "Of meta_capi."})
    google_conversion_action = fields.String(metadata={"description": "Of google_conversions."})
    tiktok_pixel_code = fields.String(metadata={"description": "Of tiktok_events."})
    test_event_code = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Code that test events go under; null without one, and then each test must send one."},
    )
    conversion_types = fields.List(fields.String(), required=True, metadata={"description": _TYPES})
    send_value = fields.Boolean(required=True, metadata={"description": _VALUE})
    consecutive_failures = fields.Integer(
        required=True, metadata={"description": "Exports that failed for good since the last one was sent."}
    )
    last_sent_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When the platform last took a conversion; null before the first."},
    )
    created_at = fields.DateTime(required=True)
    updated_at = fields.DateTime(required=True)


class DestinationDeleted(Schema):
    id = fields.UUID(required=True, metadata={"description": _DESTINATION})
    deleted = fields.Boolean(required=True, metadata={"description": "Always true."})


class TestBody(Schema):
    test_event_code = Text(64, metadata={"description": "Instead of the destination's own."})


class TestAnswer(Schema):
    """What the platform said to an event that counts for nothing."""

    accepted = fields.Boolean(required=True, metadata={"description": "Whether the platform took the event."})
    provider_status = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Its HTTP status; null where it told none."}
    )
    message = fields.String(
        required=True, metadata={"description": "What came of it, for people; a refusal is told as a slug."}
    )


class LedgerQuery(ListQuery):
    destination_id = fields.UUID(load_default=None, metadata={"description": "Only exports to this destination."})
    status = Choice(STATUSES, load_default=None, metadata={"description": "Only exports that stand so."})


class LedgerRow(Schema):
    """One conversion at one destination; nobody is named."""

    is_paged = True

    export_id = fields.UUID(required=True, metadata={"description": "The export: one conversion at one destination."})
    destination_id = fields.UUID(required=True, metadata={"description": _DESTINATION})
    conversion_id = fields.UUID(required=True)
    event_key = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "As GET /conversions/list tells it, of the published snapshot; null where that knows none."
        },
    )
    conversion_type = fields.String(required=True, metadata={"description": _TYPE})
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "queued: it waits, or is tried again; sent; failed: given up; skipped: it was not to"
            " be sent.",
        },
    )
    reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": f"Why it was skipped: {', '.join(SKIP_REASONS)}. Why it failed, or the last attempt of"
            " one that still waits: the platform's refusal as a slug. Else null."
        },
    )
    attempts = fields.Integer(required=True, metadata={"description": "How often it was tried."})
    created_at = fields.DateTime(
        required=True,
        metadata={"description": "When it was queued or skipped first; dates of the query are about this."},
    )
    next_attempt_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When it is tried next, at the earliest; null where nothing is due."},
    )
    sent_at = fields.DateTime(required=True, allow_none=True)
