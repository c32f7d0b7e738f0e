"""Recomputes: requests for figures anew, from the asking to the snapshot that answers it."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now

OPEN = ("queued", "running")


class Recompute(Base):
    """One request for a snapshot built after it; at most one per profile is open.

    `status` is queued until a build has begun to read what the profile holds, running until that build ends, then
    published or failed. `requested_at` moves on when settings change while it is open. `build_id` names the build that
    took it up, the same over its retries.
    """

    __tablename__ = "recomputes"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    status: Mapped[str] = mapped_column(sa.String(16), default="queued")
    requested_at: Mapped[datetime] = mapped_column(default=now)
    build_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    finished_at: Mapped[datetime | None]
    snapshot_id: Mapped[str | None] = mapped_column(sa.String(36))

    __table_args__ = (
        sa.CheckConstraint("status in ('queued', 'running', 'published', 'failed')", name="status"),
        sa.Index("ix_recomputes_profile_id_requested_at", "profile_id", "requested_at"),
        sa.Index(
            "uq_recomputes_open",
            "profile_id",
            unique=True,
            sqlite_where=sa.text("status in ('queued', 'running')"),
            postgresql_where=sa.text("status in ('queued', 'running')"),
        ),
    )
