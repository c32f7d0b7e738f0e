"""Asking for figures anew: at most one request per profile is open, and the next build answers it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import now
from api.models import Profile, Recompute
from api.models.attribution import OPEN
from api.next_snapshot import expected_at


def ask(session: Session, profile_id: str) -> tuple[Recompute, bool]:
    """The profile's open recompute, and whether it was made just now."""
    # whoever asks at the same moment waits here, and then finds this request
    session.get_one(Profile, profile_id, with_for_update={"key_share": True})
    found = _open(session, profile_id)
    if found is not None:
        return found, False
    made = Recompute(profile_id=profile_id, status="queued", requested_at=now())
    session.add(made)
    session.flush()
    return made, True


def ask_anew(session: Session, profile_id: str) -> Recompute:
    """As `ask`, but a build that is already under way does not count: it may have read what has changed since."""
    recompute, made = ask(session, profile_id)
    if not made:
        recompute.status, recompute.build_id, recompute.requested_at = "queued", None, now()
    return recompute


def newest(session: Session, profile_id: str) -> Recompute | None:
    """The profile's last request, whatever became of it."""
    asked = sa.select(Recompute).where(Recompute.profile_id == profile_id)
    return session.scalar(asked.order_by(Recompute.requested_at.desc(), Recompute.id.desc()).limit(1))


def told(session: Session, recompute: Recompute) -> dict[str, Any]:
    """A recompute as it is answered; an open one says when its snapshot is expected."""
    return {
        "recompute_id": recompute.id,
        "status": recompute.status,
        "requested_at": recompute.requested_at,
        "finished_at": recompute.finished_at,
        "snapshot_id": recompute.snapshot_id,
        "expected_at": expected_at(session) if recompute.status in OPEN else None,
    }


def _open(session: Session, profile_id: str) -> Recompute | None:
    asked = sa.select(Recompute).where(Recompute.profile_id == profile_id, Recompute.status.in_(OPEN))
    return session.scalar(asked.with_for_update())
