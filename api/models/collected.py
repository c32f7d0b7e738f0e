"""What trackers sent: every event once for ever, its content only until the lake holds it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now

_serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")


class CollectedEvent(Base):
    """One accepted event of a tracker. Unique per (profile, event id), for ever.

    `visitor` and `visit` are digests of the tracker's ids of the browser and of its session; they are emptied with the
    person. `body` is a record of `page_events`, there until it has landed.
    """

    __tablename__ = "collected_events"

    id: Mapped[int] = mapped_column(_serial, primary_key=True, autoincrement=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    event_id: Mapped[str] = mapped_column(sa.String(128))
    event_name: Mapped[str] = mapped_column(sa.String(64))
    conversion_type: Mapped[str | None] = mapped_column(sa.String(40))
    occurred_at: Mapped[datetime]
    received_at: Mapped[datetime] = mapped_column(default=now)
    visitor: Mapped[str | None] = mapped_column(sa.String(36))
    visit: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    body: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    landed_batch: Mapped[str | None] = mapped_column(sa.String(36))

    __table_args__ = (
        sa.UniqueConstraint("profile_id", "event_id"),
        sa.Index("ix_collected_events_profile_id_received_at", "profile_id", "received_at"),
        sa.Index(
            "ix_collected_events_waiting",
            "landed_batch",
            "profile_id",
            sqlite_where=sa.text("body is not null"),
            postgresql_where=sa.text("body is not null"),
        ),
    )
