"""Tracking keys: every profile is made with one."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import credentials
from api.models import TrackingKey

FIRST = "Site"


def mint(session: Session, profile_id: str, *, name: str = FIRST, allowed_hosts: Sequence[str] = ()) -> TrackingKey:
    """A new key of the profile, for these hosts or for any."""
    hosts = list(allowed_hosts)
    made = TrackingKey(profile_id=profile_id, key=credentials.mint("trk_live"), name=name, allowed_hosts=hosts)
    session.add(made)
    session.flush()
    return made


def oldest(session: Session, profile_id: str) -> TrackingKey | None:
    """The profile's first key that still collects."""
    chosen = sa.select(TrackingKey).where(TrackingKey.profile_id == profile_id, TrackingKey.revoked_at.is_(None))
    return session.scalars(chosen.order_by(TrackingKey.created_at, TrackingKey.id).limit(1)).one_or_none()
