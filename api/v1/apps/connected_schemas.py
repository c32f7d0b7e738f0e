"""What the routes of connected apps answer, field by field."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.actors import ActorShape


class ConnectedClient(Schema):
    app_id = fields.UUID(
        required=True, allow_none=True, metadata={"description": "The registered app; null for an agent."}
    )
    name = fields.String(required=True, metadata={"description": "What it called itself to the person who was asked."})
    logo_url = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Address of its logo; null without one, and for an agent."},
    )


class ConnectedApp(Schema):
    """One consent: what a person lets a consumer app do with a profile, or an agent in their name."""

    is_paged = True

    id = fields.UUID(required=True, metadata={"description": "The consent."})
    kind = fields.String(
        required=True,
        metadata={
            "enum": ["consumer_app", "agent"],
            "description": "consumer_app: works on one profile with keys of its own; agent: acts as the person.",
        },
    )
    app = fields.Nested(ConnectedClient, required=True)
    profile_id = fields.UUID(
        required=True,
        allow_none=True,
        metadata={"description": "The profile it was let into; null for an agent, which reaches what the person does."},
    )
    profile_name = fields.String(
        required=True, allow_none=True, metadata={"description": "The profile's name; null for an agent."}
    )
    scopes = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "What the person consented to: scopes to connect with, of an agent grants."},
    )
    granted_by = fields.Nested(ActorShape, required=True)
    granted_at = fields.DateTime(required=True, metadata={"description": "When the person consented."})
    last_used_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When a key or token was last issued or used, to the minute; null before the first."},
    )
    status = fields.String(
        required=True,
        metadata={"enum": ["granted", "revoked"], "description": "revoked: its keys and tokens open nothing any more."},
    )


class Disconnected(Schema):
    id = fields.UUID(required=True, metadata={"description": "The consent."})
    status = fields.String(required=True, metadata={"enum": ["revoked"], "description": "Always revoked."})
    revoked_at = fields.DateTime(required=True)
    keys_revoked = fields.Integer(required=True, metadata={"description": "Keys under it that were revoked."})
    tokens_revoked = fields.Integer(required=True, metadata={"description": "User tokens under it that were revoked."})
