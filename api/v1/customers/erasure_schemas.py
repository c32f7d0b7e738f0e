"""What an erasure is asked with, and its receipt."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.v1.customers.selectors import Selector

STATUSES = ("received", "processing", "completed", "failed")
REASONS = ("subject_request", "consent_withdrawn", "other")


class ErasureBody(Schema):
    selector = fields.Nested(
        Selector, required=True, metadata={"description": "Who: exactly one of its members is given."}
    )
    reason = fields.String(
        load_default="subject_request",
        validate=validate.OneOf(REASONS),
        metadata={"description": "Why the person is erased."},
    )
    reference = fields.String(
        load_default=None,
        validate=validate.Length(1, 120),
        metadata={"description": "The caller's own ticket; put nothing personal here."},
    )


class Counts(Schema):
    identities_removed = fields.Integer(required=True, metadata={"description": "Identifiers of the person."})
    events_redacted = fields.Integer(required=True, metadata={"description": "Records waiting here or kept as sent."})
    touches_anonymised = fields.Integer(required=True, metadata={"description": "Landed touches without the person."})
    conversions_anonymised = fields.Integer(
        required=True, metadata={"description": "Landed conversions and orders without the person."}
    )
    exports_retained = fields.Integer(required=True, metadata={"description": "Rows exported before; always 0 yet."})
    tokens_voided = fields.Integer(required=True, metadata={"description": "Link tokens that open nothing any more."})


class Receipt(Schema):
    """One erasure. It ends as completed when the first snapshot without the person is served."""

    erasure_id = fields.String(required=True, metadata={"format": "uuid"})
    status = fields.String(required=True, metadata={"enum": list(STATUSES)})
    requested_at = fields.DateTime(required=True)
    completed_at = fields.DateTime(required=True, allow_none=True)
    due_at = fields.DateTime(required=True, metadata={"description": "By when the law wants it done."})
    reference = fields.String(required=True, allow_none=True)
    counts = fields.Nested(Counts, required=True)
