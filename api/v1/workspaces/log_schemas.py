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
    kind = fields.String(required=True, metadata={"description": "What it is, for example goal, api_key or campaign."})
    id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Its id; of a campaign, ad set or ad the platform's. Null where it has none."},
    )
    label = fields.String(
        required=True, allow_none=True, metadata={"description": "Its name at that moment; null where none is kept."}
    )


class AuditRow(Schema):
    """One attempt to change something; never a secret or personal data."""

    is_paged = True

    audit_id = fields.UUID(required=True, metadata={"description": "The entry."})
    at = fields.DateTime(
        required=True, metadata={"description": "When it was attempted, or ended where a platform was asked."}
    )
    actor = fields.Nested(ActorShape, required=True)
    category = fields.String(
        required=True,
        metadata={
            "enum": list(CATEGORIES),
            "description": "What the change was about, as the query's `category` names it.",
        },
    )
    action = fields.String(required=True, metadata={"description": "For example goal.updated."})
    target = fields.Nested(
        Target,
        required=True,
        allow_none=True,
        metadata={"description": "What it was about; null where the action alone says it."},
    )
    profile_id = fields.UUID(
        required=True,
        allow_none=True,
        metadata={"description": "The profile it was within; null for all of the workspace."},
    )
    before = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "What stood before, by name; null where nothing is told of that."},
    )
    after = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "What was asked for or came of it, by name; null where nothing is told of that."},
    )
    outcome = fields.String(
        required=True,
        metadata={
            "enum": list(OUTCOMES),
            "description": "refused: not allowed; failed: an error; no_change: it stood so already, or a dry run.",
        },
    )
    error_code = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Of what did not succeed; null for done and no_change."},
    )
    request_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The request, as `X-Request-Id` told it; null of what the service did by itself."},
    )


class PiiAccessQuery(ListQuery):
    actor_id = OpaqueId(load_default=None, metadata={"description": "Only reads by this person, key or app."})


class PiiAccessRow(Schema):
    """One answer that told personal data; never what was asked or told."""

    is_paged = True

    id = fields.UUID(required=True, metadata={"description": "The entry."})
    at = fields.DateTime(required=True, metadata={"description": "When it was told."})
    actor = fields.Nested(ActorShape, required=True)
    credential_prefix = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "How the key, token or app id begins; null for a session."},
    )
    method = fields.String(required=True, metadata={"description": "HTTP method of the request."})
    route = fields.String(
        required=True, metadata={"description": "Its path, with names such as `{key}` in place of ids."}
    )
    profile_id = fields.UUID(required=True)
    subject = fields.String(
        required=True,
        metadata={
            "enum": list(SUBJECTS),
            "description": "Whose data it was; list: customers that the caller named in a list of their own.",
        },
    )
    customer_key = fields.String(required=True, allow_none=True, metadata={"description": "Null where several."})
    record_count = fields.Integer(
        required=True, metadata={"description": "Records in the answer; of a list, customers in the request."}
    )
    pii_level = fields.String(
        required=True,
        metadata={
            "enum": list(LEVELS),
            "description": "masked: only parts of names, addresses and numbers; full: all of them.",
        },
    )
    request_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The request, as `X-Request-Id` told it; null where it was not kept."},
    )
