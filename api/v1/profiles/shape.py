"""A profile as it is told: the same record on every route, with what this caller may see of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import marshmallow as ma
import sqlalchemy as sa
from marshmallow import fields
from sqlalchemy.orm import Session

from api.auth import Principal
from api.models import Delegation, Membership, Profile, ProfileMembership, Workspace
from api.reach import is_healthcare
from api.roles import ROLES, Role

PRIVACY_MODES = ("standard", "platform_safe", "hipaa")


class ProfileShape(ma.Schema):
    """One advertised business inside a workspace."""

    is_paged = True

    profile_id = fields.UUID(required=True)
    workspace_id = fields.UUID(required=True)
    name = fields.String(required=True, metadata={"description": "What people call the business."})
    timezone = fields.String(required=True, metadata={"description": "IANA zone that days and months are in."})
    reporting_currency = fields.String(required=True)
    status = fields.String(
        required=True,
        metadata={"enum": ["active", "archived"], "description": "An archived one opens no more, for good."},
    )
    is_demo = fields.Boolean(
        required=True, metadata={"description": "Whether it is the made-up shop of POST /profiles/demo."}
    )
    privacy_mode = fields.String(required=True, metadata={"enum": list(PRIVACY_MODES)})
    is_healthcare = fields.Boolean(
        required=True, metadata={"description": "By its agency's mark, or a privacy mode other than standard."}
    )
    attribution_enabled = fields.Boolean(
        required=True,
        metadata={
            "description": "false on one that an app provisioned: writes about it are refused, entitlement_required."
        },
    )
    provisioned_by_app_id = fields.UUID(
        required=True, allow_none=True, metadata={"description": "The app that made it; null where a person did."}
    )
    external_ref = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "An app's own name for it: told to that app, and to owners and admins; else null."},
    )
    my_role = fields.String(
        metadata={"enum": [role.word for role in Role], "description": "The person's role; absent for keys and apps."}
    )
    my_permissions = fields.List(
        fields.String(), metadata={"description": "Added to the role, or with `-` taken from it."}
    )
    created_at = fields.DateTime(required=True)
    archived_at = fields.DateTime(required=True, allow_none=True)


def told(session: Session, profiles: Sequence[Profile], caller: Principal) -> list[dict[str, Any]]:
    """The record of each profile, in order, as `caller` sees it. The caller must already reach them all."""
    workspaces = _workspaces(session, profiles)
    references = _references(session, profiles)
    places = _places(session, profiles, caller.user_id) if caller.user_id else {}
    return [
        {
            **_facts(profile, workspaces[profile.workspace_id]),
            "external_ref": _reference(references[profile.id], profile, caller, places.get(profile.id)),
            **_own(places.get(profile.id)),
        }
        for profile in profiles
    ]


def _facts(profile: Profile, workspace: Workspace) -> dict[str, Any]:
    is_archived = profile.archived_at is not None
    return {
        "profile_id": profile.id,
        "workspace_id": profile.workspace_id,
        "name": profile.name,
        "timezone": profile.timezone,
        "reporting_currency": profile.reporting_currency,
        "status": "archived" if is_archived else "active",
        "is_demo": profile.is_demo,
        "privacy_mode": profile.privacy_mode,
        "is_healthcare": is_healthcare(workspace, profile),
        "attribution_enabled": profile.attribution_enabled,
        "provisioned_by_app_id": profile.provisioned_by_app_id,
        "created_at": profile.created_at,
        "archived_at": profile.archived_at,
    }


_Place = tuple[Role, list[str]]


def _own(place: _Place | None) -> dict[str, Any]:
    return {"my_role": place[0].word, "my_permissions": place[1]} if place else {}


def _reference(
    known: Sequence[Delegation], profile: Profile, caller: Principal, place: _Place | None
) -> str | None:  # fmt: skip
    if caller.user_id is None:
        return next((one.external_ref for one in known if one.app_id == caller.app_id), None)
    if place is None or place[0] < Role.ADMIN or not known:
        return None
    provisioned = (one for one in known if one.app_id == profile.provisioned_by_app_id)
    return next(provisioned, known[0]).external_ref


def _workspaces(session: Session, profiles: Sequence[Profile]) -> dict[str, Workspace]:
    chosen = sa.select(Workspace).where(Workspace.id.in_({profile.workspace_id for profile in profiles}))
    return {workspace.id: workspace for workspace in session.scalars(chosen)}


def _references(session: Session, profiles: Sequence[Profile]) -> dict[str, list[Delegation]]:
    chosen = sa.select(Delegation).where(Delegation.profile_id.in_([profile.id for profile in profiles]))
    found: dict[str, list[Delegation]] = defaultdict(list)
    for delegation in session.scalars(chosen.order_by(Delegation.created_at, Delegation.id)):
        found[delegation.profile_id].append(delegation)
    return found


def _places(session: Session, profiles: Sequence[Profile], user_id: str) -> dict[str, _Place]:
    """The person's role and permissions by profile id; a guest's are those of the profile."""
    own_place = sa.and_(
        ProfileMembership.membership_id == Membership.id,
        ProfileMembership.profile_id == Profile.id,
        Membership.role == Role.GUEST.word,
    )
    chosen = (
        sa.select(Profile.id, Membership, ProfileMembership)
        .join(Membership, Membership.workspace_id == Profile.workspace_id)
        .outerjoin(ProfileMembership, own_place)
        .where(Profile.id.in_([profile.id for profile in profiles]), Membership.user_id == user_id)
    )
    found: dict[str, _Place] = {}
    for profile_id, membership, place in session.execute(chosen):
        role = ROLES[place.role if place else membership.role]
        permissions = [*membership.permissions, *(place.permissions if place else ())]
        found[profile_id] = (role, list(dict.fromkeys(permissions)))
    return found
