"""What PUT /conversion-sync/catalog takes and answers, member by member."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.body_fields import Flag
from api.exports.catalog import MODES
from api.served import CONVERSION_TYPES

_KNOWN = validate.OneOf(CONVERSION_TYPES, error=f"must be one of {', '.join(CONVERSION_TYPES)}")


class RuleBody(Schema):
    type = fields.String(required=True, validate=_KNOWN)
    enabled = Flag(required=True)
    send_value = Flag(load_default=False)


def _each_once(given: Sequence[dict[str, Any]]) -> None:
    if len({one["type"] for one in given}) < len(given):
        raise ValidationError("names a type twice")


class CatalogBody(Schema):
    """The mode, and the whole list of types that leave under it; without a list the rules stay."""

    privacy_mode = fields.String(
        required=True, validate=validate.OneOf(MODES, error=f"must be one of {', '.join(MODES)}")
    )
    conversion_types = fields.List(
        fields.Nested(RuleBody),
        load_default=None,
        validate=[validate.Length(max=len(CONVERSION_TYPES)), _each_once],
        metadata={"description": "A type that is not named does not leave."},
    )


class RuleShape(Schema):
    type = fields.String(required=True, metadata={"enum": list(CONVERSION_TYPES)})
    enabled = fields.Boolean(required=True)
    send_value = fields.Boolean(required=True)


class Effects(Schema):
    """What the change stopped at once."""

    destinations_disabled = fields.Integer(
        required=True, metadata={"description": "Destinations left without a type they may send."}
    )
    audiences_stopped = fields.Integer(required=True)
    partner_scopes_withheld = fields.Integer(
        required=True, metadata={"description": "Scopes of personal data that partner keys lost."}
    )


class CatalogAnswer(Schema):
    """The mode, and the rule of every type under it."""

    privacy_mode = fields.String(required=True, metadata={"enum": list(MODES)})
    previous_privacy_mode = fields.String(required=True, metadata={"enum": list(MODES)})
    changed = fields.Boolean(required=True)
    conversion_types = fields.List(fields.Nested(RuleShape), required=True)
    effects = fields.Nested(Effects, required=True)
