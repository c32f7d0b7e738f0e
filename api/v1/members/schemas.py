"""What the routes of members accept and answer, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.bodies import Email, NeedsOne, Text
from api.body_fields import Uuid
from api.roles import PERMISSIONS, ROLES

PLACE_ROLES = ("editor", "viewer", "guest")
PERMISSION_WORDS = (*PERMISSIONS, *(f"-{word}" for word in PERMISSIONS))
MOST_PROFILES = 500

_PERMISSIONS = (
    "Added to what the role gives, or with `-` taken from it. campaigns.apply, exports.manage and connections.manage"
    " open nothing below editor."
)
_PROFILES = "A guest's profiles; null for everybody else, who opens all."


def role_field(words: tuple[str, ...], **options: Any) -> fields.String:
    """A role, spelt exactly."""
    return fields.String(validate=validate.OneOf(words, error=f"must be one of {', '.join(words)}"), **options)


class Permissions(fields.List[str]):
    """Permissions of a body; loads sorted, each once."""

    def __init__(self, **kwargs: Any) -> None:
        known = validate.OneOf(PERMISSION_WORDS, error="is no permission")
        most = validate.Length(max=2 * len(PERMISSION_WORDS), error="holds too many permissions")
        super().__init__(fields.String(validate=known), validate=most, metadata={"description": _PERMISSIONS}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return sorted({str(one) for one in super()._deserialize(value, attr, data, **kwargs)})


class ProfileIds(fields.List[str]):
    """A guest's profiles in a body: at least one; loads sorted, each once."""

    def __init__(self, **kwargs: Any) -> None:
        within = validate.Length(1, MOST_PROFILES, error=f"must hold 1 to {MOST_PROFILES} profiles")
        about = {"description": "A guest's profiles: needed for guests, and for nobody else."}
        super().__init__(Uuid(), validate=within, metadata=about, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return sorted({str(one) for one in super()._deserialize(value, attr, data, **kwargs)})


class Member(Schema):
    """One person of a workspace."""

    is_paged = True

    user_id = fields.UUID(required=True)
    membership_id = fields.UUID(required=True)
    email = fields.String(required=True)
    first_name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "First name; null where none is known, and of whom an app added until they come in."},
    )
    last_name = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Last name; null where none is known, and of whom an app added until they come in."},
    )
    role = fields.String(required=True, metadata={"enum": list(ROLES)})
    permissions = fields.List(fields.String(), required=True, metadata={"description": _PERMISSIONS})
    profile_ids = fields.List(fields.UUID(), required=True, allow_none=True, metadata={"description": _PROFILES})
    created_at = fields.DateTime(required=True, metadata={"description": "When the person became a member."})
    last_seen_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "Last request within this workspace, to a minute; null before."},
    )


class PutMember(Member):
    created = fields.Boolean(required=True, metadata={"description": "False when the person was a member already."})


class MemberBody(Schema):
    """A member as an app wants them; members left out keep their value, or begin empty."""

    email = Email(required=True)
    role = role_field(tuple(ROLES), required=True)
    first_name = Text(80, metadata={"description": "Kept only for people who have no account of their own."})
    last_name = Text(80, metadata={"description": "As first_name."})
    profile_ids = ProfileIds()
    permissions = Permissions()

    @validates_schema
    def _guests_name_profiles(self, data: Mapping[str, Any], **_: Any) -> None:
        refuse_profiles_unless_guest(data["role"], data.get("profile_ids"))


class MembershipBody(NeedsOne):
    """What to change; a member left out keeps its value."""

    role = role_field(tuple(ROLES))
    permissions = Permissions()
    profile_ids = ProfileIds()


class PlaceBody(NeedsOne):
    """What to change of a guest's place on one profile."""

    role = role_field(PLACE_ROLES)
    permissions = Permissions()


class Removed(Schema):
    membership_id = fields.UUID(required=True)
    removed = fields.Boolean(required=True, metadata={"description": "Always true."})


class RemovedMember(Schema):
    user_id = fields.UUID(required=True)
    removed = fields.Boolean(required=True, metadata={"description": "Always true."})
    keys_revoked = fields.Integer(
        required=True, metadata={"description": "Always 0: keys belong to the profile and stay."}
    )


class ProfileMember(Schema):
    """One person who can open a profile."""

    is_paged = True

    membership_id = fields.UUID(required=True)
    user_id = fields.UUID(required=True)
    email = fields.String(required=True)
    name = fields.String(
        required=True, metadata={"description": "First and last name; `A member` where neither is told."}
    )
    role = fields.String(required=True, metadata={"enum": list(ROLES)})
    permissions = fields.List(fields.String(), required=True, metadata={"description": _PERMISSIONS})
    inherited = fields.Boolean(
        required=True, metadata={"description": "Whether the workspace role opens the profile, not a place on it."}
    )


class ProfilePlace(Schema):
    """A guest's place on one profile."""

    membership_id = fields.UUID(required=True)
    user_id = fields.UUID(required=True)
    profile_id = fields.UUID(required=True)
    role = fields.String(required=True, metadata={"enum": list(PLACE_ROLES)})
    permissions = fields.List(fields.String(), required=True)


def refuse_profiles_unless_guest(role: str, profile_ids: list[str] | None) -> None:
    """ValidationError when a guest names no profiles, or somebody else does."""
    if role == "guest" and profile_ids is None:
        raise ValidationError("is needed for a guest", "profile_ids")
    if role != "guest" and profile_ids is not None:
        raise ValidationError("is for guests only", "profile_ids")
