"""What GET /customers accepts and answers, field by field."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields

from api.envelopes import Meta
from api.fields import Choice, Int
from api.masking import LEVELS
from api.pagination import CursorQuery
from api.v1.conversions.schemas import CHANNELS
from data_contracts.normal_form import nfc

_TIME: dict[str, Any] = {"format": "date-time"}
_MOST_CHARACTERS = 254


class Prefix(fields.String):
    """The beginning of something, in Unicode's NFC and without blanks around it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = nfc(str(value)).strip()
        if not text or len(text) > _MOST_CHARACTERS or "\x00" in text:
            raise ValidationError(f"must have 1 to {_MOST_CHARACTERS} characters")
        return text


class CustomersQuery(CursorQuery):
    search = Prefix(
        load_default=None,
        metadata={
            "minLength": 1,
            "maxLength": _MOST_CHARACTERS,
            "description": "Beginning of the e-mail or of the name; where masked, the e-mail or a first name.",
        },
    )
    pii = Choice(
        LEVELS,
        load_default=None,
        metadata={"description": "How much is told; agents get full only where the workspace lets them."},
    )
    limit = Int(1, 200, load_default=50, metadata={"description": "Rows per page."})


class PeopleMeta(Meta):
    date_from = fields.Date(required=True)
    date_to = fields.Date(required=True)
    pii_level_applied = fields.String(
        required=True, metadata={"enum": list(LEVELS), "description": "How much of people is told: masked or full."}
    )


class CustomerRow(Schema):
    """One person, with figures over all time."""

    is_paged = True
    meta_schema = PeopleMeta

    customer_key = fields.String(required=True, metadata={"description": "`ck_…`"})
    name = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "As told last, by a tracker only where nobody else tells one; null where nobody does."
            " Masked: the first name."
        },
    )
    email = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The one seen first; null without one that is this person's alone."},
    )
    phone = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "E.164, masked the last four digits; null without one that is this person's alone."},
    )
    external_ref = fields.String(
        required=True, allow_none=True, metadata={"description": "Your own id; null where none was told."}
    )
    first_seen_at = fields.String(
        required=True, metadata={**_TIME, "description": "First sign of the person in anything that came in."}
    )
    last_seen_at = fields.String(
        required=True, metadata={**_TIME, "description": "Newest touch, conversion, page or identifier of the person."}
    )
    conversions = fields.Integer(required=True, metadata={"description": "Conversions of every type."})
    cash_revenue = fields.Float(required=True, metadata={"description": "Net cash in the reporting currency."})
    touches = fields.Integer(required=True, metadata={"description": "Touches, with and without an ad."})
    touch_channels = fields.List(
        fields.String(metadata={"enum": list(CHANNELS)}),
        required=True,
        metadata={"description": "Channels of these touches; empty without any."},
    )
    first_ad_external_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Platform id of the ad of the earliest ad touch; null without such a touch."},
    )
