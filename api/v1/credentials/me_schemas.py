"""What the /me routes accept and answer."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.bodies import Text
from api.roles import ROLES
from api.scopes import GRANTS

LOCALES = ("en", "es")
TOKEN_STATUSES = ("active", "expired", "revoked")
ORIGINS = ("session", "oauth")
_UUID = {"format": "uuid"}


class Place(Schema):
    """One workspace of the person."""

    workspace_id = fields.String(required=True, metadata=_UUID)
    name = fields.String(required=True, metadata={"description": "The workspace's name."})
    role = fields.String(required=True, metadata={"enum": list(ROLES)})
    profile_ids = fields.List(
        fields.String(metadata=_UUID),
        required=True,
        allow_none=True,
        metadata={"description": "The profiles a guest can open; null for all of the workspace."},
    )


class Me(Schema):
    """The signed-in person."""

    user_id = fields.String(required=True, metadata=_UUID)
    email = fields.String(required=True)
    email_verified = fields.Boolean(
        required=True,
        metadata={"description": "Whether the person has shown by a mailed code that the address is theirs."},
    )
    first_name = fields.String(
        required=True, allow_none=True, metadata={"description": "First name; null until the person gives one."}
    )
    last_name = fields.String(
        required=True, allow_none=True, metadata={"description": "Last name; null until the person gives one."}
    )
    locale = fields.String(required=True, metadata={"enum": list(LOCALES)})
    memberships = fields.List(
        fields.Nested(Place), required=True, metadata={"description": "In the order in which the person joined them."}
    )


class MeBody(Schema):
    first_name = Text(
        80, allow_none=True, metadata={"description": "First name; null takes it away, left out it stays."}
    )
    last_name = Text(80, allow_none=True, metadata={"description": "Last name, likewise."})
    locale = fields.String(
        validate=validate.OneOf(LOCALES, error="must be en or es"),
        metadata={"description": "Language of mail to the person; left out it stays."},
    )


class SessionRow(Schema):
    """One live session."""

    is_paged = True

    id = fields.String(required=True, metadata={**_UUID, "description": "The session, by an id that opens nothing."})
    created_at = fields.DateTime(required=True)
    last_seen_at = fields.DateTime(required=True, metadata={"description": "To the minute."})
    user_agent = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The User-Agent with which it began, up to 255 characters; null without one."},
    )
    current = fields.Boolean(required=True, metadata={"description": "Whether this request came with it."})


class EndedSession(Schema):
    id = fields.String(required=True, metadata={**_UUID, "description": "The session."})
    ended = fields.Boolean(required=True, metadata={"description": "Always true."})
    ended_at = fields.DateTime(required=True)


class TokenBody(Schema):
    name = Text(
        80, load_default="agent token", metadata={"description": "What lists call it; `agent token` if left out."}
    )
    grants = fields.List(
        fields.String(validate=validate.OneOf(GRANTS, error=f"must be one of {', '.join(GRANTS)}")),
        load_default=lambda: ["mcp:read"],
        validate=validate.Length(1, len(GRANTS), error=f"holds 1 to {len(GRANTS)} grants"),
        metadata={"description": "What the agent may do, within the person's memberships; mcp:read if left out."},
    )
    expires_in_days = fields.Integer(
        strict=True,
        load_default=90,
        validate=validate.Range(1, 365, error="must be from 1 to 365"),
        metadata={"description": "Days until it ends; 90 if left out."},
    )


class TokenFacts(Schema):
    id = fields.String(required=True, metadata={**_UUID, "description": "The token, by an id that opens nothing."})
    name = fields.String(
        required=True,
        metadata={"description": "What it was called when it was made; of consent, what the agent calls itself."},
    )
    prefix = fields.String(required=True, metadata={"description": "How the token begins."})
    grants = fields.List(
        fields.String(metadata={"enum": list(GRANTS)}),
        required=True,
        metadata={"description": "What the person let the agent do."},
    )
    scopes = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "What the grants map to; the membership may give less."},
    )
    rate_limit_units_per_minute = fields.Integer(
        required=True, metadata={"description": "Units that it may spend in any 60 seconds."}
    )
    expires_at = fields.DateTime(required=True)
    created_at = fields.DateTime(required=True)


class MintedToken(TokenFacts):
    token = fields.String(
        required=True, allow_none=True, metadata={"description": "`tl_user_…`; shown this once, null in a replay."}
    )  # fmt: skip


class TokenRow(TokenFacts):
    """One user token of the person."""

    is_paged = True

    status = fields.String(
        required=True, metadata={"enum": list(TOKEN_STATUSES), "description": "Only an active one opens anything."}
    )
    last_used_at = fields.DateTime(
        required=True, allow_none=True, metadata={"description": "To the minute; null before the first use."}
    )
    origin = fields.String(
        required=True,
        metadata={
            "enum": list(ORIGINS),
            "description": "session: the person made it; oauth: an agent got it by consent.",
        },
    )


class RevokedToken(Schema):
    id = fields.String(required=True, metadata={**_UUID, "description": "The token."})
    status = fields.String(
        required=True,
        metadata={"enum": list(TOKEN_STATUSES), "description": "revoked, also where it had ended before."},
    )
