"""Profiles taken out of service: nobody opens them any more, and their tracking, attribution and spend data go.

Rows go at once, within the caller's transaction; files and figures with the next build (`orchestration/purge.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors, shared_snapshots
from api.db import Base
from api.exports import destinations
from api.models import (
    ApiKey,
    AudienceExclusion,
    ChatMedia,
    ChatTemplate,
    CollectedEvent,
    Connection,
    ConnectionSync,
    CreativeAnalysis,
    Delegation,
    ErasedIdentifier,
    Event,
    FinishedStudy,
    GoalRow,
    Handoff,
    Import,
    IngestedRecord,
    Invitation,
    Leader,
    ManualRefund,
    Membership,
    OAuthAuthorization,
    PaymentPayer,
    Profile,
    ProfileMembership,
    Purge,
    Recommendation,
    RecommendationLook,
    Recompute,
    Report,
    ReportSchedule,
    StoreDelivery,
    TrackerSettings,
    TrackingKey,
    TrackingVerification,
    UtmScan,
    WebhookSubscription,
)
from api.oauth import families
from api.roles import Role

# one statement binds at most so many ids
IDS = 500

# what was sent, computed or entered about a profile, and what only serves to refuse or order such rows
DATA: tuple[type[Base], ...] = (
    IngestedRecord,
    Event,
    CollectedEvent,
    Import,
    ManualRefund,
    PaymentPayer,
    Recommendation,
    RecommendationLook,
    Recompute,
    ConnectionSync,
    Report,
    ReportSchedule,
    CreativeAnalysis,
    StoreDelivery,
    UtmScan,
    ErasedIdentifier,
    AudienceExclusion,
    Leader,
    FinishedStudy,
    ChatTemplate,
    ChatMedia,
    GoalRow,
    TrackerSettings,
    TrackingVerification,
)


@dataclass(frozen=True, slots=True)
class Retired:
    """How much an archive of profiles ended; `rows_removed` counts the purged rows."""

    profiles_archived: int
    api_keys_revoked: int
    memberships_removed: int
    invitations_revoked: int
    connections_disconnected: int
    destinations_disabled: int
    retained_conversion_exports: int
    rows_removed: int


def retire(session: Session, profile_ids: Iterable[str], *, at: datetime, revoke_reason: str = "person") -> Retired:
    """Archive the profiles that still live, end everything that opens them, and purge their rows.

    Keys of the API and of trackers are revoked, places on the profile and invitations to it, or to nothing that still
    lives, end (`revoke_reason`), and guests who have no other place are no members any more: the caller holds the
    workspace's row. Connections lose their token, export destinations are switched off and keep their ledger,
    authorizations of apps, adoptions, open hand-offs and links to shared snapshots end, subscriptions to its events are
    paused.
    """
    ids = hold(session, profile_ids)
    # before the connections, as whoever settles one does
    pending = Handoff.status == "pending"
    _changed(session, Handoff, Handoff.profile_id, ids, pending, status="canceled", ended_at=at)
    placed = _placed_on(session, ids)
    retired = Retired(
        profiles_archived=_changed(session, Profile, Profile.id, ids, archived_at=at),
        api_keys_revoked=_revoke_keys(session, ids, at),
        memberships_removed=_removed(session, ProfileMembership, ids),
        invitations_revoked=_revoke_invitations(session, ids, at, revoke_reason),
        connections_disconnected=_disconnect(session, ids),
        destinations_disabled=sum(destinations.switch_off_all(session, part, "archived") for part in _parts(ids)),
        retained_conversion_exports=sum(destinations.retained(session, part) for part in _parts(ids)),
        rows_removed=remove_rows(session, ids),
    )
    _remove_placeless(session, placed)
    _end_authorizations(session, ids, at)
    _end_adoptions(session, ids)
    _changed(session, TrackingKey, TrackingKey.profile_id, ids, TrackingKey.revoked_at.is_(None), revoked_at=at)
    _changed(session, WebhookSubscription, WebhookSubscription.profile_id, ids, status="paused")
    for part in _parts(ids):
        shared_snapshots.revoke_of(session, part, at)
    session.add_all(Purge(profile_id=one, requested_at=at) for one in ids)
    session.flush()
    return retired


def hold(session: Session, profile_ids: Iterable[str]) -> list[str]:
    """The profiles that still live, which nobody else archives, nor issues keys to under a consent meanwhile."""
    # rows that name a profile may be written meanwhile: they would wait here with what is waited for below
    live = sa.select(Profile.id).where(Profile.archived_at.is_(None)).with_for_update(key_share=True)
    parts = list(_parts(sorted(profile_ids)))
    ids = [one for part in parts for one in session.scalars(live.where(Profile.id.in_(part)).order_by(Profile.id))]
    for part in _parts(ids):
        families.hold(session, OAuthAuthorization.profile_id.in_(part))
    return ids


def keep_live(session: Session, profile_ids: Collection[str]) -> None:
    """Hold profiles that nobody archives until this unit is over; 404 not_found when one is archived already.

    For whoever adds what an archive ends: it ends what it finds, and would miss what is added at the same moment.
    """
    live = sa.select(Profile.id).where(Profile.id.in_(profile_ids), Profile.archived_at.is_(None))
    if len(session.scalars(live.order_by(Profile.id).with_for_update(read=True)).all()) < len(profile_ids):
        raise errors.NOT_FOUND()


def remove_rows(session: Session, profile_ids: Sequence[str]) -> int:
    """Delete what `DATA` holds of the profiles; gives how many rows that were."""
    return sum(_removed(session, model, profile_ids) for model in DATA)


def _placed_on(session: Session, ids: Sequence[str]) -> list[str]:
    chosen = sa.select(ProfileMembership.membership_id)
    of = ProfileMembership.profile_id
    return sorted({one for part in _parts(ids) for one in session.scalars(chosen.where(of.in_(part)))})


def _remove_placeless(session: Session, membership_ids: Sequence[str]) -> None:
    placed = sa.exists().where(ProfileMembership.membership_id == Membership.id)
    guests = sa.delete(Membership).where(Membership.role == Role.GUEST.word, ~placed)
    for part in _parts(membership_ids):
        _rows(session, guests.where(Membership.id.in_(part)))


def _revoke_keys(session: Session, ids: Sequence[str], at: datetime) -> int:
    alive = sa.or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > at)
    return _changed(session, ApiKey, ApiKey.profile_id, ids, ApiKey.revoked_at.is_(None), alive, revoked_at=at)


def _revoke_invitations(session: Session, ids: Sequence[str], at: datetime, reason: str) -> int:
    pending = (Invitation.status == "pending", Invitation.expires_at > at)
    ended: dict[str, Any] = {"status": "revoked", "revoke_reason": reason, "revoked_at": at}
    count = _changed(session, Invitation, Invitation.profile_id, ids, *pending, **ended)
    # a guest's names its profiles in a list, and goes with the last of them
    of = sa.select(Profile.workspace_id)
    workspaces = {one for part in _parts(ids) for one in session.scalars(of.where(Profile.id.in_(part)))}
    chosen = sa.select(Invitation).where(Invitation.profile_ids.is_not(None), *pending)
    live = sa.select(Profile.id).where(Profile.archived_at.is_(None))
    for workspace_id in sorted(workspaces):
        left = set(session.scalars(live.where(Profile.workspace_id == workspace_id)))
        listed = session.scalars(chosen.where(Invitation.workspace_id == workspace_id)).all()
        over = [one.id for one in listed if left.isdisjoint(one.profile_ids or ())]
        count += _changed(session, Invitation, Invitation.id, over, **ended)
    return count


def _disconnect(session: Session, ids: Sequence[str]) -> int:
    open_ = Connection.status != "disconnected"
    return _changed(session, Connection, Connection.profile_id, ids, open_, status="disconnected", token="")


def _end_authorizations(session: Session, ids: Sequence[str], at: datetime) -> int:
    of, open_ = OAuthAuthorization.profile_id, OAuthAuthorization.status.in_(("requested", "granted"))
    return _changed(session, OAuthAuthorization, of, ids, open_, status="revoked", revoked_at=at)


def _end_adoptions(session: Session, ids: Sequence[str]) -> int:
    # with the consent that carried them; what an app provisioned stays known by its name, also archived
    adopted = sa.delete(Delegation).where(Delegation.kind == "adopted")
    return sum(_rows(session, adopted.where(Delegation.profile_id.in_(part))) for part in _parts(ids))


def _changed(session: Session, model: type[Base], of: Any, ids: Sequence[str], *where: Any, **to: Any) -> int:
    change = sa.update(model).where(*where).values(**to)
    return sum(_rows(session, change.where(of.in_(part))) for part in _parts(ids))


def _removed(session: Session, model: type[Base], ids: Sequence[str]) -> int:
    column = cast(Any, model).profile_id
    return sum(_rows(session, sa.delete(model).where(column.in_(part))) for part in _parts(ids))


def _rows(session: Session, statement: sa.Update | sa.Delete) -> int:
    result = session.execute(statement, execution_options={"synchronize_session": False})
    return cast("sa.CursorResult[Any]", result).rowcount


def _parts(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + IDS] for start in range(0, len(ids), IDS))
