"""What the routes of invitations accept and answer, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields, validate, validates_schema

from api.actors import ActorShape
from api.bodies import Email, Text
from api.fields import Choice
from api.op_lists import ListQuery
from api.roles import ROLES
from api.v1.members.schemas import (
    PLACE_ROLES,
    Permissions,
    ProfileIds,
    refuse_profiles_unless_guest,
    role_field,
)

STATUSES = ("pending", "accepted", "revoked")
REASONS = ("person", "expired", "workspace_archived")


class InvitationQuery(ListQuery):
    status = Choice((*STATUSES, "all"), load_default="pending", metadata={"description": "Only these; all for any."})


class InvitationBody(Schema):
    """Whom to invite to a workspace, as what."""

    email = Email(required=True)
    role = role_field(tuple(ROLES), required=True, metadata={"description": "owner only by an owner."})
    profile_ids = ProfileIds()
    permissions = Permissions(load_default=list)
    message = Text(500, low=0, load_default="", metadata={"description": "Goes into the mail."})

    @validates_schema
    def _guests_name_profiles(self, data: Mapping[str, Any], **_: Any) -> None:
        refuse_profiles_unless_guest(data["role"], data.get("profile_ids"))


class ProfileInvitationBody(Schema):
    """Whom to invite to one profile, as what."""

    email = Email(required=True)
    role = role_field(PLACE_ROLES, required=True)
    permissions = Permissions(load_default=list)
    message = Text(500, low=0, load_default="", metadata={"description": "Goes into the mail."})


class InvitationShape(Schema):
    """One invitation; an expired one is told as revoked."""

    is_paged = True

    invitation_id = fields.UUID(required=True, metadata={"description": "The invitation."})
    scope = fields.String(
        required=True,
        metadata={
            "enum": ["workspace", "profile"],
            "description": "profile: as a guest, to one profile of the workspace.",
        },
    )
    workspace_id = fields.UUID(required=True)
    profile_id = fields.UUID(
        required=True, allow_none=True, metadata={"description": "The profile of scope profile; null otherwise."}
    )
    email = fields.String(required=True)
    role = fields.String(required=True, metadata={"enum": list(ROLES)})
    permissions = fields.List(fields.String(), required=True)
    profile_ids = fields.List(
        fields.UUID(),
        required=True,
        allow_none=True,
        metadata={"description": "A guest's profiles; null for everybody else, and with scope profile."},
    )
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STATUSES),
            "description": "pending becomes revoked after fourteen days that nobody answered in.",
        },
    )
    revoke_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": [*REASONS, None],
            "description": "person: it was taken back, or its profiles were archived; null unless revoked.",
        },
    )
    invited_by = fields.Nested(ActorShape, required=True)
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(
        required=True, metadata={"description": "When a pending one ends: after fourteen days."}
    )
    accepted_at = fields.DateTime(required=True, allow_none=True)
    revoked_at = fields.DateTime(required=True, allow_none=True)


class NewInvitation(InvitationShape):
    accept_url = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Opens the invitation, also without mail; shown this once, null in a replay."},
    )
    email_status = fields.String(
        required=True,
        metadata={
            "enum": ["queued", "not_configured"],
            "description": "not_configured: this deployment sends no mail; hand accept_url over.",
        },
    )


class AcceptBody(Schema):
    token = fields.String(
        required=True,
        validate=validate.Length(max=200),
        metadata={"description": "`tl_inv_…`, the end of accept_url or of the mailed link."},
    )


class Accepted(Schema):
    """The place that an invitation gave."""

    workspace_id = fields.UUID(required=True)
    workspace_name = fields.String(required=True)
    profile_ids = fields.List(
        fields.UUID(), required=True, allow_none=True, metadata={"description": "Null for all of the workspace."}
    )
    role = fields.String(required=True, metadata={"enum": list(ROLES)})
    membership_id = fields.UUID(required=True)
    accepted_at = fields.DateTime(required=True)
