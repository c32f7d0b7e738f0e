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
