"""What the two logs of a workspace accept and answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.actors import ActorShape
from api.audit import CATEGORIES
from api.fields import Choice, OpaqueId
from api.op_lists import ListQuery

OUTCOMES = ("done", "refused", "no_change", "failed")
SUBJECTS = ("customer", "visitor", "order", "payment", "list")
LEVELS = ("masked", "full")


class AuditQuery(ListQuery):
    category = Choice(
        [*CATEGORIES, "all"], load_default="classification", metadata={"description": "What the change was about."}
    )


class Target(Schema):
    kind = fields.String(required=True)
    id = fields.String(required=True, allow_none=True)
    label = fields.String(required=True, allow_none=True, metadata={"description": "Its name at that moment."})


class AuditRow(Schema):
    """One attempt to change something; never a secret or personal data."""

    is_paged = True

    audit_id = fields.UUID(required=True)
    at = fields.DateTime(required=True)
    actor = fields.Nested(ActorShape, required=True)
    category = fields.String(required=True, metadata={"enum": list(CATEGORIES)})
    action = fields.String(required=True, metadata={"description": "For example goal.updated."})
    target = fields.Nested(Target, required=True, allow_none=True)
    profile_id = fields.UUID(required=True, allow_none=True)
    before = fields.Dict(required=True, allow_none=True)
    after = fields.Dict(required=True, allow_none=True)
    outcome = fields.String(required=True, metadata={"enum": list(OUTCOMES)})
    error_code = fields.String(required=True, allow_none=True, metadata={"description": "Of what did not succeed."})
    request_id = fields.String(required=True, allow_none=True)


class PiiAccessQuery(ListQuery):
    actor_id = OpaqueId(load_default=None, metadata={"description": "Only reads by this person, key or app."})


class PiiAccessRow(Schema):
    """One answer that told personal data; never what was asked or told."""

    is_paged = True

    id = fields.UUID(required=True)
    at = fields.DateTime(required=True)
    actor = fields.Nested(ActorShape, required=True)
    credential_prefix = fields.String(required=True, allow_none=True)
    method = fields.String(required=True)
    route = fields.String(required=True)
    profile_id = fields.UUID(required=True)
    subject = fields.String(required=True, metadata={"enum": list(SUBJECTS)})
    customer_key = fields.String(required=True, allow_none=True, metadata={"description": "Null where several."})
    record_count = fields.Integer(required=True)
    pii_level = fields.String(required=True, metadata={"enum": list(LEVELS)})
    request_id = fields.String(required=True, allow_none=True)
