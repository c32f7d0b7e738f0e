"""The end of a workspace: nobody opens it, its profiles or their data any more; who owned it may ask what became of it.

Sessions and user tokens stay, since they belong to people. So do audit entries and the log of personal data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import billing, errors
from api.exports import destinations
from api.models import (
    Invitation,
    Membership,
    OAuthAuthorization,
    Profile,
    ProfileMembership,
    WebhookSubscription,
    Workspace,
)
from api.purge import hold, retire
from api.roles import ROLES, Role

REASON = "workspace_archived"


@dataclass(frozen=True, slots=True)
class Archive:
    """What became of a workspace; `is_first` is False when it had been archived before."""

    is_first: bool
    at: datetime
    counts: Mapping[str, int]
    profiles_purged: int


def archive(session: Session, *, workspace_id: str, by: str, at: datetime) -> Archive:
    """Archive the workspace for one of its owners, the person `by`, or tell the archive that was; there is no way back.

    Whoever stopped being an owner since they were let in: 403 owner_required, no member any more: 404 not_found.
    """
    # of two that ask at once the second finds it archived
    workspace = session.get_one(Workspace, workspace_id, with_for_update={"key_share": True})
    _require_owner(session, workspace, by)
    if workspace.archived_at is not None:
        counts = {**workspace.archive_counts}
        return Archive(False, workspace.archived_at, counts, counts.pop("profiles_purged"))
    owners = _owners(session, workspace_id)
    counts = _end(session, workspace_id, at)
    purged = counts["profiles_archived"]
    workspace.archived_at, workspace.archived_owner_ids = at, owners
    workspace.archive_counts = {**counts, "profiles_purged": purged}
    session.flush()
    return Archive(True, at, counts, purged)


def _end(session: Session, workspace_id: str, at: datetime) -> dict[str, int]:
    every = sa.select(Profile.id).where(Profile.workspace_id == workspace_id)
    profiles = session.scalars(every).all()
    # as whoever issues or ends under a consent does: the profile, the consent, and then the rest
    hold(session, profiles)
    paused = _pause_webhooks(session, workspace_id)
    # before the profiles go, which takes guests with them uncounted
    memberships = _remove_memberships(session, workspace_id)
    # signal-audit rows have no table yet, so there are none
    retired = retire(session, profiles, at=at, revoke_reason=REASON)
    invitations = retired.invitations_revoked + _revoke_invitations(session, workspace_id, at)
    _end_authorizations(session, workspace_id, at)
    billing.cancel(session, workspace_id)
    return {
        "profiles_archived": retired.profiles_archived,
        "memberships_removed": memberships,
        "invitations_revoked": invitations,
        "api_keys_revoked": retired.api_keys_revoked,
        "webhook_subscriptions_paused": paused,
        # also those of profiles that were archived before, such as a deleted demo
        "retained_conversion_exports": destinations.retained(session, every),
        "retained_signal_audit_rows": 0,
    }


def _pause_webhooks(session: Session, workspace_id: str) -> int:
    running = sa.update(WebhookSubscription).where(
        WebhookSubscription.workspace_id == workspace_id, WebhookSubscription.status != "paused"
    )
    return _rows(session, running.values(status="paused"))


def _require_owner(session: Session, workspace: Workspace, person: str) -> None:
    if workspace.archived_at is not None:
        if person not in workspace.archived_owner_ids:
            raise errors.NOT_FOUND()
        return
    held = sa.select(Membership.role).where(Membership.workspace_id == workspace.id, Membership.user_id == person)
    role = session.scalar(held)
    if role is None:
        raise errors.NOT_FOUND()
    if ROLES[role] is not Role.OWNER:
        raise errors.FORBIDDEN(f"This needs the role owner; yours is {role}.", reason="owner_required")


def _owners(session: Session, workspace_id: str) -> list[str]:
    chosen = sa.select(Membership.user_id).where(Membership.workspace_id == workspace_id)
    return sorted(session.scalars(chosen.where(Membership.role == Role.OWNER.word)))


def _revoke_invitations(session: Session, workspace_id: str, at: datetime) -> int:
    pending = sa.update(Invitation).where(
        Invitation.workspace_id == workspace_id, Invitation.status == "pending", Invitation.expires_at > at
    )
    return _rows(session, pending.values(status="revoked", revoke_reason=REASON, revoked_at=at))


def _remove_memberships(session: Session, workspace_id: str) -> int:
    of_workspace = sa.select(Membership.id).where(Membership.workspace_id == workspace_id)
    _rows(session, sa.delete(ProfileMembership).where(ProfileMembership.membership_id.in_(of_workspace)))
    return _rows(session, sa.delete(Membership).where(Membership.workspace_id == workspace_id))


def _end_authorizations(session: Session, workspace_id: str, at: datetime) -> None:
    open_ = OAuthAuthorization.status.in_(("requested", "granted"))
    ended = sa.update(OAuthAuthorization).where(OAuthAuthorization.workspace_id == workspace_id, open_)
    _rows(session, ended.values(status="revoked", revoked_at=at))


def _rows(session: Session, statement: sa.Update | sa.Delete) -> int:
    result = session.execute(statement, execution_options={"synchronize_session": False})
    return cast("sa.CursorResult[Any]", result).rowcount
