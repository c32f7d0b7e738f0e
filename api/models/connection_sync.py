"""Pulls of connections, asked for and done."""

from __future__ import annotations

from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class ConnectionSync(Base):
    """One pull of a connection. `status` is queued, running, done or failed; `error` a slug of what failed.

    `delivery_through` is the last account day that was landed whole when it ended. `date_from` and `date_to` are days
    of delivery that somebody asked for beside those that are due.
    """

    __tablename__ = "connection_syncs"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"))
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    status: Mapped[str] = mapped_column(sa.String(8), default="queued")
    date_from: Mapped[date | None]
    date_to: Mapped[date | None]
    delivery_through: Mapped[date | None]
    error: Mapped[str | None] = mapped_column(sa.String(255))
    requested_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    __table_args__ = (
        sa.CheckConstraint("status in ('queued', 'running', 'done', 'failed')", name="status"),
        # the newest of each connection, those that wait, and those that are old: an account has 720 of a month
        sa.Index("ix_connection_syncs_newest", "connection_id", "id"),
        sa.Index("ix_connection_syncs_status", "status", "finished_at"),
    )
