"""What the payment routes accept and answer, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate

from api import errors
from api.bodies import Instant, Text
from api.fields import Int, Time
from api.pagination import CursorQuery

STATUSES = ("all", "unidentified")
_MONEY = {"pattern": r"^-?\d+(\.\d+)?$"}


class StatusQuery(Schema):
    error_code = errors.STATUS_INVALID

    status = fields.String(
        load_default="all",
        validate=validate.OneOf(STATUSES, error="must be all or unidentified"),
        metadata={"description": "unidentified: only payments whose payer is not known."},
    )


class IntervalQuery(Schema):
    """Both instants or neither, in order."""

    error_code = errors.RANGE_INVALID

    since = Time(
        data_key="from",
        load_default=None,
        metadata={"description": "First instant, with its offset; send to with it."},
    )
    until = Time(
        data_key="to",
        load_default=None,
        metadata={"description": "Last instant, included; send from with it."},
    )

    @post_load
    def _in_order(self, data: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        since, until = data["since"], data["until"]
        if (since is None) != (until is None):
            raise ValidationError("from and to are given together", "to" if until is None else "from")
        if since is not None and since > until:
            raise ValidationError("is before from", "to")
        return dict(data)


class PageQuery(CursorQuery):
    limit = Int(1, 200, load_default=50, metadata={"description": "Rows per page."})


class StandingRefund(Schema):
    amount = fields.String(
        required=True, metadata={**_MONEY, "description": "Taken back by hand, in the payment's currency."}
    )
    at = fields.DateTime(required=True, metadata={"description": "When it was given back, as entered."})


class PaymentRow(Schema):
    """One payment in its own currency."""

    is_paged = True

    payment_ref = fields.String(required=True, metadata={"description": "provider:id."})
    occurred_at = fields.DateTime(required=True, metadata={"description": "When it was paid."})
    value = fields.String(required=True, metadata={**_MONEY, "description": "Captured."})
    refunded_value = fields.String(
        required=True, metadata={**_MONEY, "description": "Taken back, as last published; at most the value."}
    )
    refunded_beyond_value = fields.String(
        required=True,
        metadata={**_MONEY, "description": "Taken back beyond the value: it lowers no figure, and is worth a look."},
    )
    currency = fields.String(required=True, metadata={"description": "ISO 4217."})
    provider = fields.String(
        required=True, metadata={"description": "Who took it, or told of it: the part of payment_ref before the colon."}
    )
    customer_key = fields.String(
        required=True, allow_none=True, metadata={"description": "`ck_…` of the payer; null where nobody is known."}
    )
    identified = fields.Boolean(required=True, metadata={"description": "Whether the payer is known."})
    payer_hint = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Masked e-mail address, else phone, of the payer; null without one of theirs alone."},
    )
    manual_refund = fields.Nested(
        StandingRefund,
        required=True,
        allow_none=True,
        metadata={"description": "The refund that was entered by hand; null without one."},
    )


class Assignment(Schema):
    payment_ref = fields.String(required=True, metadata={"description": "The payment."})
    customer_key = fields.String(required=True, metadata={"description": "`ck_…` of the payer."})
    previous_customer_key = fields.String(
        required=True, allow_none=True, metadata={"description": "Who was the payer before; null for nobody known."}
    )


class RefundBody(Schema):
    amount = fields.String(
        required=True,
        validate=validate.Regexp(r"^-?[0-9]{1,14}(\.[0-9]{1,4})?\Z", error="must be a decimal number in a string"),
        metadata={"description": "In the payment's currency, at most what is left of it."},
    )
    currency = fields.String(required=True, metadata={"description": "The payment's currency."})
    refunded_at = Instant(
        load_default=None,
        metadata={
            "description": "When, not on a day before the payment's; its midnight where only the day is known, now if"
            " absent. Figures change on the payment's date."
        },
    )
    note = Text(500, load_default=None, metadata={"description": "For your own people."})


class Refund(Schema):
    refund_id = fields.String(required=True, metadata={"format": "uuid", "description": "The refund that was entered."})
    payment_ref = fields.String(required=True, metadata={"description": "The payment that it lowers."})
    amount = fields.String(required=True, metadata={**_MONEY, "description": "Taken back, in the payment's currency."})
    net_value = fields.String(required=True, metadata={**_MONEY, "description": "What is left of the payment."})


class Withdrawn(Schema):
    deleted = fields.Boolean(required=True, metadata={"description": "False when there was no manual refund."})
