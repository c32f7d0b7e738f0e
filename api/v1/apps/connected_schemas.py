"""What the routes of connected apps answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.actors import ActorShape


class ConnectedClient(Schema):
    app_id = fields.UUID(required=True, allow_none=True)
    name = fields.String(required=True)
    logo_url = fields.String(required=True, allow_none=True)


class ConnectedApp(Schema):
    """One consent: what a person lets a consumer app do with a profile, or an agent in their name."""

    is_paged = True

    id = fields.UUID(required=True)
    kind = fields.String(required=True, metadata={"enum": ["consumer_app", "agent"]})
    app = fields.Nested(ConnectedClient, required=True)
    profile_id = fields.UUID(required=True, allow_none=True)
    profile_name = fields.String(required=True, allow_none=True)
    scopes = fields.List(fields.String(), required=True)
    granted_by = fields.Nested(ActorShape, required=True)
    granted_at = fields.DateTime(required=True)
    last_used_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When a key or token was last issued or used, to the minute; null before the first."},
    )
    status = fields.String(required=True, metadata={"enum": ["granted", "revoked"]})


class Disconnected(Schema):
    id = fields.UUID(required=True)
    status = fields.String(required=True, metadata={"enum": ["revoked"]})
    revoked_at = fields.DateTime(required=True)
    keys_revoked = fields.Integer(required=True)
    tokens_revoked = fields.Integer(required=True)
