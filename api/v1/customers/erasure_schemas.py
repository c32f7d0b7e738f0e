"""What an erasure is asked with, and its receipt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

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


class WorkspaceErasureBody(ErasureBody):
    profile_id = fields.UUID(
        load_default=None, metadata={"description": "Only this profile; else every one that knows the person."}
    )

    @validates_schema
    def _of_one_profile(self, data: Mapping[str, Any], **_: Any) -> None:
        if data["profile_id"] is None and not data["selector"].keys() & {"email", "phone"}:
            raise ValidationError("is needed with a customer_key or an external_ref", "profile_id")

    @post_load
    def _as_text(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**data, "profile_id": data["profile_id"] and str(data["profile_id"])}


class Counts(Schema):
    identities_removed = fields.Integer(required=True, metadata={"description": "Identifiers of the person."})
    events_redacted = fields.Integer(required=True, metadata={"description": "Records waiting here or kept as sent."})
    touches_anonymised = fields.Integer(required=True, metadata={"description": "Landed touches without the person."})
    conversions_anonymised = fields.Integer(
        required=True, metadata={"description": "Landed conversions and orders without the person."}
    )
    exports_retained = fields.Integer(
        required=True, metadata={"description": "Rows of the export ledger about the person."}
    )
    tokens_voided = fields.Integer(
        required=True,
        metadata={
            "description": "Always 0: link tokens are kept nowhere. The person's open nothing from the request on."
        },
    )


class Receipt(Schema):
    """One erasure. It ends as completed when the first snapshot without the person is served."""

    erasure_id = fields.String(
        required=True, metadata={"format": "uuid", "description": "Ask GET /customers/erasures/{id} how it stands."}
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "received: files and figures wait for the next build; processing: that build runs, or its"
            " snapshot is not served yet; failed: tried again with the build after it.",
        },
    )
    requested_at = fields.DateTime(required=True)
    completed_at = fields.DateTime(required=True, allow_none=True)
    due_at = fields.DateTime(required=True, metadata={"description": "By when the law wants it done."})
    reference = fields.String(
        required=True, allow_none=True, metadata={"description": "The caller's own ticket; null where none was given."}
    )
    counts = fields.Nested(Counts, required=True)


class ProfileReceipt(Receipt):
    profile_id = fields.String(required=True, metadata={"format": "uuid"})


class WorkspaceErasures(Schema):
    erasures = fields.List(
        fields.Nested(ProfileReceipt), required=True, metadata={"description": "One per profile that knew the person."}
    )
