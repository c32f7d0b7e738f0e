"""What a caller may see: the one place where a credential and an id become a workspace or a profile, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.db import now
from api.models import App, Delegation, Membership, Profile, ProfileMembership, User, Workspace
from api.models.workspace import PROVISIONED
from api.roles import ROLES, Role, scopes_of
from api.scopes import PII, Scope

SEEN_STEP = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Reach:
    """What one request is about: the parts that it named and the caller may see, and as whom."""

    workspace: Workspace | None = None
    profile: Profile | None = None
    membership: Membership | None = None
    role: Role | None = None
    permissions: tuple[str, ...] = ()

    def in_the_workspace(self) -> Reach:
        """The same with the role that the person has in the workspace, whatever their place on the profile."""
        if self.membership is None:
            return self
        held = ROLES[self.membership.role]
        return replace(self, role=held, permissions=tuple(self.membership.permissions))

    @property
    def scopes(self) -> frozenset[Scope]:
        """What the membership gives; nothing without one."""
        return _given(self.membership, self.role, self.permissions) if self.role else frozenset()


def of_key(profile: Profile, *, workspace_id: str | None, profile_id: str | None) -> Reach:
    """A key's own profile; 404 not_found for any other id, and for an archived profile."""
    named_another = profile_id not in {None, profile.id} or workspace_id not in {None, profile.workspace_id}
    if profile.archived_at is not None or named_another:
        raise errors.NOT_FOUND()
    return Reach(profile=profile)


def of_person(
    session: Session, user_id: str, *, workspace_id: str | None, profile_id: str | None, archived_too: bool = False
) -> Reach:
    """The named profile and workspace as this person may see them.

    404 not_found, one answer, for what is unknown, archived, foreign or of another workspace than the named one, and
    for what an app gave to an address that nobody proved. With `archived_too` an archived workspace is reached by those
    who were its owners when it was archived.
    """
    profile = session.get(Profile, profile_id) if profile_id else None
    if profile_id and (profile is None or profile.archived_at is not None):
        raise errors.NOT_FOUND()
    if profile and workspace_id not in {None, profile.workspace_id}:
        raise errors.NOT_FOUND()
    sought = workspace_id or (profile.workspace_id if profile else None)
    if sought is None:
        return Reach()
    workspace = session.get(Workspace, sought)
    if workspace is None or (workspace.is_provisioned and person(session, user_id).email_verified_at is None):
        raise errors.NOT_FOUND()
    if workspace.archived_at is not None:
        if archived_too and user_id in workspace.archived_owner_ids:
            return Reach(workspace=workspace, role=Role.OWNER)
        raise errors.NOT_FOUND()
    chosen = sa.select(Membership).where(Membership.workspace_id == sought, Membership.user_id == user_id)
    membership = session.scalars(chosen).one_or_none()
    if membership is None:
        raise errors.NOT_FOUND()
    _mark_seen(session, membership)
    role, permissions = ROLES[membership.role], tuple(membership.permissions)
    if profile and role is Role.GUEST:
        place = _place(session, membership, profile)
        role, permissions = ROLES[place.role], (*permissions, *place.permissions)
    return Reach(workspace, profile, membership, role, permissions)


def on_profile(session: Session, user_id: str, profile: Profile) -> Reach:
    """A profile as a person who is not the caller has it; without role and scopes for a stranger."""
    chosen = sa.select(Membership).where(Membership.workspace_id == profile.workspace_id, Membership.user_id == user_id)
    membership = session.scalars(chosen).one_or_none()
    if membership is None:
        return Reach(profile=profile)
    role, permissions = ROLES[membership.role], tuple(membership.permissions)
    if role is Role.GUEST:
        place = _placed(session, membership, profile)
        if place is None:
            return Reach(profile=profile)
        role, permissions = ROLES[place.role], (*permissions, *place.permissions)
    return Reach(profile=profile, membership=membership, role=role, permissions=permissions)


def administers(session: Session, user_id: str, workspace_id: str) -> bool:
    """Whether a person, who need not be the caller, is an owner or admin of a workspace."""
    chosen = sa.select(Membership.role).where(Membership.workspace_id == workspace_id, Membership.user_id == user_id)
    role = session.scalars(chosen).one_or_none()
    return role is not None and ROLES[role] >= Role.ADMIN


def of_app(session: Session, app: App, *, workspace_id: str | None, profile_id: str | None) -> Reach:
    """What an app provisioned or adopted; 404 not_found for everything else."""
    profile = None
    if profile_id:
        tied = sa.select(Profile).join(Delegation, Delegation.profile_id == Profile.id)
        profile = session.scalars(tied.where(Profile.id == profile_id, Delegation.app_id == app.id)).one_or_none()
        if profile is None or workspace_id not in {None, profile.workspace_id}:
            raise errors.NOT_FOUND()
    workspace = None
    if workspace_id:
        workspace = session.get(Workspace, workspace_id)
        own = workspace is not None and workspace.provisioned_by_app_id == app.id
        if workspace is None or workspace.archived_at is not None or not own:
            raise errors.NOT_FOUND()
    return Reach(workspace=workspace, profile=profile)


def profiles_of(user_id: str) -> sa.Select[Profile]:
    """All live profiles a person can open: those of their workspaces; for a guest those with a place of their own."""
    placed = sa.exists().where(
        ProfileMembership.membership_id == Membership.id, ProfileMembership.profile_id == Profile.id
    )
    return (
        sa.select(Profile)
        .join(Workspace, Workspace.id == Profile.workspace_id)
        .join(Membership, Membership.workspace_id == Workspace.id)
        .where(
            Membership.user_id == user_id,
            _opens(),
            Workspace.archived_at.is_(None),
            Profile.archived_at.is_(None),
            sa.or_(Membership.role != Role.GUEST.word, placed),
        )
    )


def delegated_to(app_id: str) -> sa.Select[Profile]:
    """All live profiles an app provisioned or adopted."""
    return (
        sa.select(Profile)
        .join(Workspace, Workspace.id == Profile.workspace_id)
        .join(Delegation, Delegation.profile_id == Profile.id)
        .where(Delegation.app_id == app_id, Workspace.archived_at.is_(None), Profile.archived_at.is_(None))
    )


def workspaces_of(user_id: str) -> sa.Select[Workspace, Membership]:
    """All live workspaces a person belongs to, each with their membership."""
    return (
        sa.select(Workspace, Membership)
        .join(Membership, Membership.workspace_id == Workspace.id)
        .where(Membership.user_id == user_id, _opens(), Workspace.archived_at.is_(None))
    )


def _opens() -> sa.ColumnElement[bool]:
    # an app names whom it likes by address: whoever typed the same address at our door has to prove it first
    proved = sa.exists().where(User.id == Membership.user_id, User.email_verified_at.is_not(None))
    return sa.or_(Workspace.acquisition_source != PROVISIONED, proved)


def is_healthcare(workspace: Workspace, profile: Profile) -> bool:
    """Whether a profile is of the healthcare family: by its agency's mark or its own privacy mode."""
    return workspace.is_healthcare_agency or profile.privacy_mode != "standard"


def person(session: Session, user_id: str) -> User:
    """The person behind a session or a user token."""
    return session.get_one(User, user_id)


def _given(membership: Membership | None, role: Role, permissions: tuple[str, ...]) -> frozenset[Scope]:
    given = scopes_of(role, permissions)
    # guests never see people, whatever their place on a profile adds
    is_guest = membership is not None and ROLES[membership.role] is Role.GUEST
    return given - PII if is_guest else given


def _mark_seen(session: Session, membership: Membership) -> None:
    at = now()
    if membership.last_seen_at is None or at - membership.last_seen_at >= SEEN_STEP:
        # a statement, which finds nothing to change where the membership is taken away meanwhile
        session.execute(sa.update(Membership).where(Membership.id == membership.id).values(last_seen_at=at))


def _place(session: Session, membership: Membership, profile: Profile) -> ProfileMembership:
    place = _placed(session, membership, profile)
    if place is None:
        raise errors.NOT_FOUND()
    return place


def _placed(session: Session, membership: Membership, profile: Profile) -> ProfileMembership | None:
    chosen = sa.select(ProfileMembership).where(
        ProfileMembership.membership_id == membership.id, ProfileMembership.profile_id == profile.id
    )
    return session.scalars(chosen).one_or_none()
