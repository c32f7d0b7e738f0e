"""The life of an invitation: pending, then accepted or revoked; fourteen days without an answer count as revoked."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials, errors, plans, rate_limit
from api.audit import Actor, Attempt
from api.db import now
from api.models import Invitation, Membership, Profile, User, Workspace
from api.roles import ROLES, Role
from api.v1.members import memberships, places

LIFE = timedelta(days=14)
HOURLY = rate_limit.Bucket("request_rate", limit=30, window=3600 * rate_limit.SECOND)
PREFIX = "tl_inv"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who is to be invited as what: to `profile` as a guest, or to the whole workspace."""

    email: str
    role: Role
    permissions: list[str]
    profile_ids: list[str] | None = None
    profile: Profile | None = None
    message: str | None = None

    @property
    def allowance(self) -> str:
        return "guests" if self.profile or self.role is Role.GUEST else "members"


def standing(invitation: Invitation, at: datetime) -> tuple[str, str | None, datetime | None]:
    """(status, revoke_reason, revoked_at) of an invitation at a moment: what nobody answered has then expired."""
    if invitation.status == "pending" and at >= invitation.expires_at:
        return "revoked", "expired", invitation.expires_at
    return invitation.status, invitation.revoke_reason, invitation.revoked_at


def with_status(status: str, at: datetime) -> sa.ColumnElement[bool]:
    """The condition on a row for `standing` to give this status."""
    expired = sa.and_(Invitation.status == "pending", Invitation.expires_at <= at)
    if status == "pending":
        return sa.and_(Invitation.status == "pending", Invitation.expires_at > at)
    return sa.or_(Invitation.status == "revoked", expired) if status == "revoked" else Invitation.status == status


def create(
    session: Session, *, workspace_id: str, wanted: Wanted, by: str | None, actor: Actor
) -> tuple[Invitation, str]:
    """Have the person `by`, or the operator, invite somebody; gives the invitation and its token.

    Of the token only the digest is kept. 403 role_above_own, role_required; 404 for profiles that are not of the
    workspace; 409 already_member or already_invited; 402 when members and open invitations together fill the plan.
    """
    workspace = memberships.locked(session, workspace_id)
    held = memberships.acting(session, workspace, by)
    if wanted.profile is None:
        memberships.refuse_above(held, wanted.role)
    if wanted.profile_ids is not None:
        places.require(session, workspace_id, wanted.profile_ids)
    user = memberships.user_with(session, wanted.email)
    membership = memberships.of_user(session, workspace_id, user.id) if user else None
    if membership is not None:
        _refuse_member(session, membership, wanted.profile)
    open_ones = _open(session, workspace_id)
    target = wanted.profile.id if wanted.profile else None
    if any(one.email == wanted.email and one.profile_id == target for one in open_ones):
        raise errors.INVALID_STATE("This address has an open invitation.", reason="already_invited")
    if membership is None:
        _require_room(session, workspace, wanted, open_ones)
    token, at = credentials.mint(PREFIX), now()
    invitation = Invitation(
        workspace_id=workspace_id,
        profile_id=target,
        email=wanted.email,
        role=wanted.role.word,
        permissions=wanted.permissions,
        profile_ids=wanted.profile_ids,
        digest=credentials.digest(token),
        message=wanted.message,
        invited_by_kind=actor.kind,
        invited_by_id=actor.id,
        created_at=at,
        expires_at=at + LIFE,
    )
    session.add(invitation)
    session.flush()
    return invitation, token


def spend(session: Session, user_id: str) -> None:
    """Count one invitation of a person, in whatever workspace; 429 rate_limit_exceeded after 30 within an hour."""
    bucket = f"user:{user_id}:invitations"
    charged = rate_limit.charge(session, bucket, units=1, limit=HOURLY.limit, window=HOURLY.window)
    if charged.retry_after is not None:
        raise errors.RATE_LIMIT_EXCEEDED(
            f"At most {HOURLY.limit} people can be invited in an hour.",
            reason=HOURLY.reason,
            headers={"Retry-After": str(charged.retry_after)},
        )


def revoke(
    session: Session, *, workspace_id: str, profile_id: str | None, invitation_id: str, by: str | None
) -> Invitation:
    """Have the person `by`, or the operator, take an open invitation back.

    404 unless it is of the workspace and, where one is named, of the profile; 403 role_above_own, role_required.
    """
    held = memberships.acting(session, memberships.locked(session, workspace_id), by)
    chosen = sa.select(Invitation).where(Invitation.id == invitation_id, Invitation.workspace_id == workspace_id)
    if profile_id is not None:
        chosen = chosen.where(Invitation.profile_id == profile_id)
    invitation = session.scalars(chosen.execution_options(populate_existing=True)).one_or_none()
    if invitation is None:
        raise errors.NOT_FOUND("There is no such invitation.")
    memberships.refuse_above(held, ROLES[invitation.role])
    status, _, _ = standing(invitation, now())
    if status != "pending":
        raise errors.INVALID_STATE(f"The invitation is {status} already.", reason=f"already_{status}")
    invitation.status, invitation.revoke_reason, invitation.revoked_at = "revoked", "person", now()
    return invitation


def attempt(action: str, invitation: Invitation) -> Attempt:
    """What the audit trail keeps of a change: which invitation, and to what role."""
    target = {"kind": "invitation", "id": invitation.id, "label": None}
    return Attempt(action, {"target": target, "role": invitation.role}, category="members")


def url_of(base_url: str, token: str) -> str:
    """The page on which whoever is invited accepts; also for a token as `mailed`."""
    # behind the #, which no browser sends: not to our logs, and to nobody as a referrer
    return f"{base_url}/invitations#{token}"


def mailed(token: str, key: bytes) -> str:
    """The token as the mail carries it: with a mark that nobody can make who was only shown the link."""
    return f"{token}.{hmac.new(key, b'mailed invitation' + token.encode(), hashlib.sha256).hexdigest()}"


def accept(session: Session, *, user_id: str, token: str, key: bytes) -> tuple[Invitation, Workspace, Membership]:
    """Make the invited person a member; a token as `mailed` also proves their address.

    404 unknown token, 403 email_mismatch for anybody else, 410 when the workspace was archived, 409 when the
    invitation was answered, taken back or left too long, or the person got in another way; 402 without room.
    """
    shown = token.partition(".")[0]
    invitation, workspace = _found(session, shown)
    user = session.get_one(User, user_id)
    if user.email != invitation.email:
        raise errors.FORBIDDEN("The invitation is for another address.", reason="email_mismatch")
    _refuse_closed(invitation, workspace)
    membership = _joined(session, workspace, user, invitation)
    invitation.status, invitation.accepted_at = "accepted", now()
    if hmac.compare_digest(token.encode(), mailed(shown, key).encode()):
        user.email_verified_at = user.email_verified_at or now()
    session.flush()
    return invitation, workspace, membership


def profiles_of(invitation: Invitation) -> list[str] | None:
    """Ids of the profiles an invitation is for; None for all of the workspace."""
    return [invitation.profile_id] if invitation.profile_id else invitation.profile_ids


def named(session: Session, token: str) -> tuple[Invitation, Workspace]:
    """The invitation of a token, with or without the proof of a mail, whatever became of it; 404 not_found."""
    return _found(session, token.partition(".")[0])


def _found(session: Session, token: str) -> tuple[Invitation, Workspace]:
    chosen = sa.select(Invitation).where(Invitation.digest == credentials.digest(token))
    known = session.scalars(chosen).one_or_none() if credentials.is_well_formed(token, PREFIX) else None
    if known is None:
        raise errors.NOT_FOUND("There is no such invitation.")
    workspace = memberships.locked(session, known.workspace_id, archived_too=True)
    # read again: another request may have answered it while this one waited for the workspace
    return session.scalars(chosen.execution_options(populate_existing=True)).one(), workspace


def _refuse_closed(invitation: Invitation, workspace: Workspace) -> None:
    status, reason, _ = standing(invitation, now())
    if status == "accepted":
        raise errors.INVALID_STATE("The invitation is accepted already.", reason="already_accepted")
    if reason == "person":
        raise errors.INVALID_STATE("The invitation was taken back.", reason="already_revoked")
    if workspace.archived_at is not None or reason == "workspace_archived":
        raise errors.WORKSPACE_ARCHIVED()
    if status == "revoked":
        raise errors.INVALID_STATE("The invitation has expired.", reason="invitation_expired")


def _joined(session: Session, workspace: Workspace, user: User, invitation: Invitation) -> Membership:
    profile_ids, role = profiles_of(invitation), ROLES[invitation.role]
    membership = memberships.of_user(session, workspace.id, user.id)
    if profile_ids is not None:
        profile_ids = places.live(session, workspace.id, profile_ids)
        if not profile_ids:
            raise errors.NOT_FOUND("The invitation's profile is gone.")
    if invitation.profile_id is None:
        return _into_workspace(session, workspace, user, invitation, profile_ids)
    if membership is None:
        membership = memberships.add(session, workspace=workspace, user_id=user.id, role=Role.GUEST, permissions=[])
    elif ROLES[membership.role] is not Role.GUEST or places.on(session, membership.id, invitation.profile_id):
        raise _already_member()
    places.give(session, membership, invitation.profile_id, role, invitation.permissions)
    return membership


def _into_workspace(
    session: Session, workspace: Workspace, user: User, invitation: Invitation, profile_ids: list[str] | None
) -> Membership:
    role, wanted = ROLES[invitation.role], {"role": invitation.role, "permissions": invitation.permissions}
    membership = memberships.of_user(session, workspace.id, user.id)
    if membership is None:
        return memberships.add(
            session,
            workspace=workspace,
            user_id=user.id,
            role=role,
            permissions=invitation.permissions,
            profile_ids=profile_ids,
        )
    if ROLES[membership.role] is not Role.GUEST or role is Role.GUEST:
        raise _already_member()
    # a guest of one profile whom an earlier invitation makes more than that
    memberships.change(session, workspace=workspace, membership=membership, wanted=wanted, by=None)
    return membership


def _refuse_member(session: Session, membership: Membership, profile: Profile | None) -> None:
    is_guest = ROLES[membership.role] is Role.GUEST
    if profile is None or not is_guest or places.on(session, membership.id, profile.id):
        raise _already_member()


def _already_member() -> errors.ApiError:
    return errors.INVALID_STATE("This person is a member already.", reason="already_member")


def _open(session: Session, workspace_id: str) -> Sequence[Invitation]:
    chosen = sa.select(Invitation).where(Invitation.workspace_id == workspace_id, with_status("pending", now()))
    return session.scalars(chosen).all()


def open_to(session: Session, workspace_id: str, email: str) -> list[str]:
    """Ids of what an address has open of the whole workspace."""
    return [one.id for one in _open(session, workspace_id) if one.email == email and one.profile_id is None]


def _require_room(session: Session, workspace: Workspace, wanted: Wanted, open_ones: Sequence[Invitation]) -> None:
    def takes(one: Invitation) -> str:
        return "guests" if one.profile_id or one.role == Role.GUEST.word else "members"

    name = wanted.allowance
    waiting = {one.email for one in open_ones if takes(one) == name} - {wanted.email}
    members = sa.select(User.email).join(Membership, Membership.user_id == User.id)
    waiting -= set(session.scalars(members.where(Membership.workspace_id == workspace.id)))
    plans.require(workspace, name, plans.used(session, workspace, name) + len(waiting))


def row(invitation: Invitation, invited_by: dict[str, Any]) -> dict[str, Any]:
    """The record of an invitation, as it stands now."""
    status, reason, revoked_at = standing(invitation, now())
    return {
        "invitation_id": invitation.id,
        "scope": "profile" if invitation.profile_id else "workspace",
        "workspace_id": invitation.workspace_id,
        "profile_id": invitation.profile_id,
        "email": invitation.email,
        "role": invitation.role,
        "permissions": invitation.permissions,
        "profile_ids": invitation.profile_ids,
        "status": status,
        "revoke_reason": reason,
        "invited_by": invited_by,
        "created_at": invitation.created_at,
        "expires_at": invitation.expires_at,
        "accepted_at": invitation.accepted_at,
        "revoked_at": revoked_at,
    }
