"""What PUT /conversion-sync/catalog takes and answers, member by member."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from api.body_fields import Flag
from api.exports.catalog import MODES
from api.served import CONVERSION_TYPES

_KNOWN = validate.OneOf(CONVERSION_TYPES, error=f"must be one of {', '.join(CONVERSION_TYPES)}")


_LEAVES = "Whether such conversions may leave for ad platforms."
_VALUE = "Whether their value may go with them."


class RuleBody(Schema):
    type = fields.String(required=True, validate=_KNOWN, metadata={"description": "The conversion type."})
    enabled = Flag(required=True, metadata={"description": _LEAVES})
    send_value = Flag(load_default=False, metadata={"description": _VALUE})


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
    type = fields.String(
        required=True, metadata={"enum": list(CONVERSION_TYPES), "description": "The conversion type."}
    )
    enabled = fields.Boolean(required=True, metadata={"description": _LEAVES})
    send_value = fields.Boolean(required=True, metadata={"description": _VALUE})


class Effects(Schema):
    """What the change stopped at once."""

    destinations_disabled = fields.Integer(
        required=True, metadata={"description": "Destinations left without a type they may send."}
    )
    audiences_stopped = fields.Integer(
        required=True,
        metadata={"description": "Always 0: no audience is fed here without a request of its own."},
    )
    partner_scopes_withheld = fields.Integer(
        required=True, metadata={"description": "Scopes of personal data that partner keys lost."}
    )


class CatalogAnswer(Schema):
    """The mode, and the rule of every type under it."""

    privacy_mode = fields.String(required=True, metadata={"enum": list(MODES)})
    previous_privacy_mode = fields.String(
        required=True, metadata={"enum": list(MODES), "description": "The mode before."}
    )
    changed = fields.Boolean(
        required=True, metadata={"description": "Whether the mode or a rule is another than before."}
    )
    conversion_types = fields.List(
        fields.Nested(RuleShape),
        required=True,
        metadata={"description": "Every type with its rule, always in the same order."},
    )
    effects = fields.Nested(Effects, required=True)
