"""Links to frozen leaderboards: whether one still opens, and their end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials
from api.models import SharedSnapshot, SharedSnapshotProfile, Workspace

PREFIX = "tl_shr"
STATUSES = ("active", "revoked", "expired")

Condition = sa.ColumnElement[bool]


def status_of(row: SharedSnapshot, at: datetime) -> str:
    """active, revoked or expired; a link that was revoked before its end stays revoked."""
    if row.revoked_at is not None:
        return "revoked"
    return "active" if row.expires_at > at else "expired"


def in_status(status: str, at: datetime) -> tuple[Condition, ...]:
    """Conditions for the links in this status; none for `all`."""
    unrevoked = SharedSnapshot.revoked_at.is_(None)
    return {
        "all": (),
        "revoked": (SharedSnapshot.revoked_at.is_not(None),),
        "active": (unrevoked, SharedSnapshot.expires_at > at),
        "expired": (unrevoked, SharedSnapshot.expires_at <= at),
    }[status]


def opened(session: Session, token: str, at: datetime, *, is_counted: bool = True) -> SharedSnapshot | None:
    """What the link of this token opens now, its view counted if it is to be; None when it opens nothing."""
    if not credentials.is_well_formed(token, PREFIX):
        return None
    live = sa.exists().where(Workspace.id == SharedSnapshot.workspace_id, Workspace.archived_at.is_(None))
    this = (SharedSnapshot.digest == credentials.digest(token), *in_status("active", at), live)
    if is_counted:
        seen = {"view_count": SharedSnapshot.view_count + 1, "last_viewed_at": at}
        session.execute(
            sa.update(SharedSnapshot).where(*this).values(**seen), execution_options={"synchronize_session": False}
        )
    return session.scalars(sa.select(SharedSnapshot).where(*this)).one_or_none()


def revoke_of(session: Session, profile_ids: Sequence[str], at: datetime) -> int:
    """End every link that shows one of these profiles, and forget what it showed; gives how many were still active."""
    showing = sa.select(SharedSnapshotProfile.shared_snapshot_id).where(
        SharedSnapshotProfile.profile_id.in_(profile_ids)
    )
    of = SharedSnapshot.id.in_(showing)
    ended = _changed(session, sa.update(SharedSnapshot).where(of, *in_status("active", at)).values(revoked_at=at))
    _changed(session, sa.update(SharedSnapshot).where(of).values(rows=[]))
    return ended


def _changed(session: Session, statement: sa.Update) -> int:
    result = session.execute(statement, execution_options={"synchronize_session": False})
    return cast("sa.CursorResult[Any]", result).rowcount
