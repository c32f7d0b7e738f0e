"""Members as they are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import op_lists
from api.models import Membership, Profile, ProfileMembership, User, Workspace
from api.models.person import NAMELESS
from api.op_lists import By
from api.roles import Role
from api.v1.members import places

_ORDER = (
    By(Membership.created_at.expression, lambda row: row[0].created_at),
    By(Membership.id.expression, lambda row: row[0].id),
)


def page(
    session: Session,
    workspace_id: str,
    query: Mapping[str, Any],
    *,
    route: str,
    profile: Profile | None,
) -> list[dict[str, Any]]:
    """One page of a workspace's members, in the order they came; with a profile those who can open it."""
    chosen = sa.select(Membership, User).join(User, User.id == Membership.user_id)
    chosen = chosen.where(Membership.workspace_id == workspace_id)
    if profile is not None:
        placed = sa.exists().where(
            ProfileMembership.membership_id == Membership.id, ProfileMembership.profile_id == profile.id
        )
        chosen = chosen.where(sa.or_(Membership.role != Role.GUEST.word, placed))
    filters = {"profile_id": profile.id if profile else None}
    rows = op_lists.page(session, chosen, _ORDER, query, route=route, owner=workspace_id, filters=filters)
    return told(session, workspace_id, rows)


def one(session: Session, membership: Membership) -> dict[str, Any]:
    """One member."""
    return told(session, membership.workspace_id, [(membership, session.get_one(User, membership.user_id))])[0]


def told(session: Session, workspace_id: str, members: Sequence[Any]) -> list[dict[str, Any]]:
    """The record of each (membership, user) of a workspace."""
    placed = places.of_members(session, [membership.id for membership, _ in members if _is_guest(membership)])
    by_app = _is_by_app(session, workspace_id)
    return [_row(membership, user, placed, by_app=by_app) for membership, user in members]


def page_of_profile(
    session: Session, profile: Profile, query: Mapping[str, Any], *, route: str
) -> list[dict[str, Any]]:
    """One page of the people who can open a profile, in the order they came to the workspace."""
    on_it = sa.and_(ProfileMembership.membership_id == Membership.id, ProfileMembership.profile_id == profile.id)
    chosen = (
        sa.select(Membership, User, ProfileMembership)
        .join(User, User.id == Membership.user_id)
        .outerjoin(ProfileMembership, on_it)
        .where(
            Membership.workspace_id == profile.workspace_id,
            sa.or_(Membership.role != Role.GUEST.word, ProfileMembership.id.is_not(None)),
        )
    )
    rows = op_lists.page(session, chosen, _ORDER, query, route=route, owner=profile.id, filters={})
    by_app = _is_by_app(session, profile.workspace_id)
    return [_of_profile(*row, by_app=by_app) for row in rows]


def place(held: ProfileMembership, membership: Membership) -> dict[str, Any]:
    """A guest's place on one profile."""
    return {
        "membership_id": membership.id,
        "user_id": membership.user_id,
        "profile_id": held.profile_id,
        "role": held.role,
        "permissions": held.permissions,
    }


def _row(membership: Membership, user: User, placed: Mapping[str, list[str]], *, by_app: bool) -> dict[str, Any]:
    is_named = _is_named(membership, user, by_app=by_app)
    return {
        "user_id": user.id,
        "membership_id": membership.id,
        "email": user.email,
        "first_name": user.first_name if is_named else None,
        "last_name": user.last_name if is_named else None,
        "role": membership.role,
        "permissions": membership.permissions,
        "profile_ids": placed.get(membership.id, []) if _is_guest(membership) else None,
        "created_at": membership.created_at,
        "last_seen_at": membership.last_seen_at,
    }


def _of_profile(membership: Membership, user: User, held: ProfileMembership | None, *, by_app: bool) -> dict[str, Any]:
    on_profile = held if _is_guest(membership) else None
    return {
        "membership_id": membership.id,
        "user_id": user.id,
        "email": user.email,
        "name": user.display_name if _is_named(membership, user, by_app=by_app) else NAMELESS,
        "role": on_profile.role if on_profile else membership.role,
        "permissions": on_profile.permissions if on_profile else membership.permissions,
        "inherited": on_profile is None,
    }


def _is_by_app(session: Session, workspace_id: str) -> bool:
    return session.get_one(Workspace, workspace_id).is_provisioned


def _is_named(membership: Membership, user: User, *, by_app: bool) -> bool:
    # apps add whom they like by address, and an address is no way to learn a stranger's name: neither for the app nor
    # for whoever it makes an owner
    return not by_app or user.password_hash is None or membership.last_seen_at is not None


def _is_guest(membership: Membership) -> bool:
    return membership.role == Role.GUEST.word
