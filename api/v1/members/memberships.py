"""Adding, changing and removing people of a workspace. Every change of one workspace waits for the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors, plans
from api.db import now
from api.models import Membership, OAuthAuthorization, User, UserToken, Workspace
from api.oauth import families
from api.roles import ROLES, Role
from api.v1.members import places


def locked(session: Session, workspace_id: str, *, archived_too: bool = False) -> Workspace:
    """The workspace as it is now, which nobody else changes the people of until this unit of work is over.

    404 not_found when it was archived since the caller was let in.
    """
    chosen = sa.select(Workspace).where(Workspace.id == workspace_id).with_for_update(key_share=True)
    workspace = session.scalars(chosen.execution_options(populate_existing=True)).one()
    if workspace.archived_at is not None and not archived_too:
        raise errors.NOT_FOUND()
    return workspace


def acting(session: Session, workspace: Workspace, user_id: str | None, *, on: str | None = None) -> Role:
    """The role that whoever changes the people of a locked workspace has in it now, whatever they came in with.

    None for whoever operates the deployment, who may do what an owner may. 404 not_found for who was taken out
    meanwhile; 403 role_required below admin, unless `on` is their own membership.
    """
    if user_id is None:
        return Role.OWNER
    own = of_user(session, workspace.id, user_id)
    if own is None:
        raise errors.NOT_FOUND()
    role = ROLES[own.role]
    if role < Role.ADMIN and own.id != on:
        unless = ", unless it is yourself" if on else ""
        raise errors.FORBIDDEN(f"This needs the role admin{unless}; yours is {role.word}.", reason="role_required")
    return role


def find(session: Session, workspace_id: str, membership_id: str) -> Membership:
    """A membership of the workspace; 404 not_found for any other id."""
    chosen = sa.select(Membership).where(Membership.id == membership_id, Membership.workspace_id == workspace_id)
    membership = session.scalars(chosen.execution_options(populate_existing=True)).one_or_none()
    if membership is None:
        raise errors.NOT_FOUND("There is no such member.")
    return membership


def of_user(session: Session, workspace_id: str, user_id: str) -> Membership | None:
    """A person's membership of the workspace."""
    chosen = sa.select(Membership).where(Membership.user_id == user_id, Membership.workspace_id == workspace_id)
    return session.scalars(chosen.execution_options(populate_existing=True)).one_or_none()


def of_address(session: Session, workspace_id: str, email: str) -> Membership | None:
    """The membership of the workspace that the person with an address has."""
    user = user_with(session, email)
    return of_user(session, workspace_id, user.id) if user else None


def user_with(session: Session, email: str) -> User | None:
    """The person with an address."""
    return session.scalars(sa.select(User).where(User.email == email)).one_or_none()


def told(session: Session, membership: Membership) -> dict[str, Any]:
    """What the audit trail keeps of a membership: {role, permissions}, and of a guest's `profile_ids` too."""
    kept = {"role": membership.role, "permissions": membership.permissions}
    if ROLES[membership.role] is not Role.GUEST:
        return kept
    return {**kept, "profile_ids": places.of_members(session, [membership.id])[membership.id]}


def add(
    session: Session,
    *,
    workspace: Workspace,
    user_id: str,
    role: Role,
    permissions: list[str],
    profile_ids: list[str] | None = None,
) -> Membership:
    """A new member, if the plan has room; of a locked workspace. Guests get places on `profile_ids`."""
    plans.require_room(session, workspace, "guests" if role is Role.GUEST else "members")
    membership = Membership(workspace_id=workspace.id, user_id=user_id, role=role.word, permissions=permissions)
    session.add(membership)
    session.flush()
    if profile_ids is not None:
        places.settle(session, membership, profile_ids)
    return membership


def change(
    session: Session, *, workspace: Workspace, membership: Membership, wanted: Mapping[str, Any], by: Role | None
) -> None:
    """Change role, permissions or a guest's profiles, whichever `wanted` holds; of a locked workspace.

    `by` is the role of whoever asks, None for an app. 403 role_above_own, 409 last_owner, 402 without room,
    422 when a guest would have no profiles or somebody else would name some.
    """
    held, role = ROLES[membership.role], ROLES[wanted.get("role", membership.role)]
    profile_ids = wanted.get("profile_ids")
    refuse_above(by, held, role)
    if role is Role.GUEST and held is not Role.GUEST and profile_ids is None:
        raise errors.VALIDATION_ERROR("profile_ids: is needed for a guest")
    if role is not Role.GUEST and profile_ids is not None:
        raise errors.VALIDATION_ERROR("profile_ids: is for guests only")
    if held is Role.OWNER and role is not Role.OWNER:
        _refuse_last_owner(session, workspace)
    if (role is Role.GUEST) != (held is Role.GUEST):
        plans.require_room(session, workspace, "guests" if role is Role.GUEST else "members")
    membership.role = role.word
    membership.permissions = list(wanted.get("permissions", membership.permissions))
    if role is not Role.GUEST:
        places.clear(session, membership)
    elif profile_ids is not None:
        places.settle(session, membership, profile_ids)
    session.flush()


def remove(session: Session, *, workspace: Workspace, membership: Membership, by: Role | None) -> None:
    """Take a person out of a locked workspace; what they can open ends with this unit of work.

    Keys belong to their profile and stay. Whoever is left without any workspace loses their tokens, and with them what
    agents hold for them.
    """
    held = ROLES[membership.role]
    refuse_above(by, held)
    if held is Role.OWNER:
        _refuse_last_owner(session, workspace)
    places.clear(session, membership)
    session.delete(membership)
    session.flush()
    if session.scalar(sa.select(Membership.id).where(Membership.user_id == membership.user_id).limit(1)) is None:
        _end_tokens(session, membership.user_id)


def refuse_above(by: Role | None, *roles: Role) -> None:
    """403 role_above_own when one of `roles` is above that of whoever asks."""
    if by is not None and any(role > by for role in roles):
        raise errors.FORBIDDEN(f"Your own role is {by.word}.", reason="role_above_own")


def _refuse_last_owner(session: Session, workspace: Workspace) -> None:
    owners = sa.select(sa.func.count()).where(
        Membership.workspace_id == workspace.id, Membership.role == Role.OWNER.word
    )
    if (session.scalar(owners) or 0) <= 1:
        raise errors.INVALID_STATE("A workspace keeps at least one owner.", reason="last_owner")


def _end_tokens(session: Session, user_id: str) -> None:
    of_agents = OAuthAuthorization.kind == "agent", OAuthAuthorization.status == "granted"
    for one in families.hold(session, OAuthAuthorization.user_id == user_id, *of_agents):
        one.status, one.revoked_at = "revoked", now()
    tokens = sa.update(UserToken).where(UserToken.user_id == user_id, UserToken.revoked_at.is_(None))
    session.execute(tokens.values(revoked_at=now()))
