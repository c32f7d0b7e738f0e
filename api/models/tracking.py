"""Tracking keys: what a site's tracker names its profile with."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class TrackingKey(Base):
    """One tracking key, in clear: every page that carries the tracker shows it, and it opens nothing but collecting.

    Without `allowed_hosts` it collects from any host.
    """

    __tablename__ = "tracking_keys"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    key: Mapped[str] = mapped_column(sa.String(48), unique=True)
    name: Mapped[str] = mapped_column(sa.String(80))
    allowed_hosts: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    created_at: Mapped[datetime] = mapped_column(default=now)
    last_seen_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class TrackerSettings(Base):
    """What a profile set of its tracker; one without a row has the defaults of `api.tracker_settings`.

    `capture_typed_identity` is null until somebody sets it.
    """

    __tablename__ = "tracker_settings"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    capture_typed_identity: Mapped[bool | None]
    session_idle_minutes: Mapped[int] = mapped_column(default=30)
    chat_token_enabled: Mapped[bool] = mapped_column(default=False)
    respect_gpc: Mapped[bool] = mapped_column(default=True)

    __table_args__ = (sa.CheckConstraint("session_idle_minutes between 1 and 120", name="session_idle"),)


class TrackingVerification(Base):
    """One attempt to show that a page carries the tracker: its nonce comes back from `host`, or it expires."""

    __tablename__ = "tracking_verifications"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    nonce: Mapped[str] = mapped_column(sa.String(64), unique=True)
    url: Mapped[str] = mapped_column(sa.String(2000))
    host: Mapped[str] = mapped_column(sa.String(253))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    seen_at: Mapped[datetime | None]
    page_host: Mapped[str | None] = mapped_column(sa.String(253))
