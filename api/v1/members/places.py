"""A guest's places: the profiles that they open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.models import Membership, Profile, ProfileMembership
from api.roles import Role


def of_members(session: Session, membership_ids: Sequence[str]) -> dict[str, list[str]]:
    """Ids of the live profiles of each membership, sorted."""
    chosen = (
        sa.select(ProfileMembership.membership_id, ProfileMembership.profile_id)
        .join(Profile, Profile.id == ProfileMembership.profile_id)
        .where(ProfileMembership.membership_id.in_(membership_ids), Profile.archived_at.is_(None))
        .order_by(ProfileMembership.profile_id)
    )
    found: dict[str, list[str]] = defaultdict(list)
    for membership_id, profile_id in session.execute(chosen):
        found[membership_id].append(profile_id)
    return found


def live(session: Session, workspace_id: str, profile_ids: Collection[str]) -> list[str]:
    """Those of `profile_ids` that are live profiles of the workspace, sorted."""
    chosen = sa.select(Profile.id).where(
        Profile.workspace_id == workspace_id, Profile.id.in_(profile_ids), Profile.archived_at.is_(None)
    )
    return sorted(session.scalars(chosen))


def require(session: Session, workspace_id: str, profile_ids: Collection[str]) -> None:
    """404 not_found unless all are live profiles of the workspace."""
    if set(live(session, workspace_id, profile_ids)) != set(profile_ids):
        raise errors.NOT_FOUND("There is no such profile in this workspace.")


def settle(session: Session, membership: Membership, profile_ids: Collection[str]) -> None:
    """Give a guest places on exactly these profiles; a place that stays keeps its role and permissions."""
    require(session, membership.workspace_id, profile_ids)
    standing = sa.select(ProfileMembership).where(ProfileMembership.membership_id == membership.id)
    held = {place.profile_id: place for place in session.scalars(standing)}
    for profile_id in held.keys() - set(profile_ids):
        session.delete(held[profile_id])
    for profile_id in sorted(set(profile_ids) - held.keys()):
        session.add(ProfileMembership(membership_id=membership.id, profile_id=profile_id))
    session.flush()


def clear(session: Session, membership: Membership) -> None:
    """Take all places of a membership."""
    session.execute(sa.delete(ProfileMembership).where(ProfileMembership.membership_id == membership.id))


def on(session: Session, membership_id: str, profile_id: str) -> ProfileMembership | None:
    """The place of a membership on a profile."""
    chosen = sa.select(ProfileMembership).where(
        ProfileMembership.membership_id == membership_id, ProfileMembership.profile_id == profile_id
    )
    return session.scalars(chosen).one_or_none()


def any_of(session: Session, membership_id: str) -> bool:
    """Whether a membership has a place on any profile."""
    chosen = sa.select(ProfileMembership.id).where(ProfileMembership.membership_id == membership_id).limit(1)
    return session.scalar(chosen) is not None


def give(session: Session, membership: Membership, profile_id: str, role: Role, permissions: list[str]) -> None:
    """A new place of a guest on one profile."""
    place = ProfileMembership(membership_id=membership.id, profile_id=profile_id, role=role.word)
    place.permissions = permissions
    session.add(place)
    session.flush()
