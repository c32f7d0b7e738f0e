"""What of a profile's conversions goes to which ad platform, and the ledger of what became of each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now

STATUSES = ("queued", "sent", "failed", "skipped")


class ConversionCatalog(Base):
    """The conversion types a profile lets out in one family of privacy modes, `standard` or `healthcare`.

    `rules` are rows {type, enabled, send_value}. A family nobody set has no row.
    """

    __tablename__ = "conversion_catalogs"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    family: Mapped[str] = mapped_column(sa.String(16), primary_key=True)
    rules: Mapped[list[Any]]
    updated_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (sa.CheckConstraint("family in ('standard', 'healthcare')", name="family"),)


class ExportDestination(Base):
    """One place at an ad platform that conversions go to: `target` is its pixel, conversion action or pixel code.

    `consecutive_failures` counts the rows that failed since the last one sent. `matched_snapshot_id` is the snapshot
    whose conversions all have a row or need none. A deleted one stays, for the rows of its ledger.
    """

    __tablename__ = "export_destinations"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    kind: Mapped[str] = mapped_column(sa.String(24))
    name: Mapped[str] = mapped_column(sa.String(80))
    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"))
    target: Mapped[str] = mapped_column(sa.String(128))
    test_event_code: Mapped[str | None] = mapped_column(sa.String(64))
    conversion_types: Mapped[list[str]]
    send_value: Mapped[bool] = mapped_column(default=True)
    is_enabled: Mapped[bool] = mapped_column(default=True)
    disabled_reason: Mapped[str | None] = mapped_column(sa.String(40))
    consecutive_failures: Mapped[int] = mapped_column(default=0)
    failing_since: Mapped[datetime | None]
    failing_reason: Mapped[str | None] = mapped_column(sa.String(40))
    matched_snapshot_id: Mapped[str | None] = mapped_column(sa.String(36))
    last_sent_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)
    deleted_at: Mapped[datetime | None]

    __table_args__ = (
        sa.CheckConstraint("kind in ('meta_capi', 'google_conversions', 'tiktok_events')", name="kind"),
        sa.Index(
            "ix_export_destinations_place",
            "profile_id",
            "kind",
            "connection_id",
            "target",
            unique=True,
            sqlite_where=sa.text("deleted_at is null"),
            postgresql_where=sa.text("deleted_at is null"),
        ),
    )

    def __repr__(self) -> str:
        return f"<ExportDestination {self.id} {self.kind}>"


class ExportRow(Base):
    """One conversion at one destination, by ids alone: who converted stands in the published snapshot, not here.

    `event_id` is the server event that tells of it, if one does; `target` is the one that it was sent to, null until
    then. The database refuses to delete a row.
    """

    __tablename__ = "export_rows"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    destination_id: Mapped[str] = mapped_column(sa.ForeignKey("export_destinations.id"))
    conversion_id: Mapped[str] = mapped_column(sa.String(36))
    event_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    conversion_type: Mapped[str] = mapped_column(sa.String(40))
    occurred_at: Mapped[datetime]
    status: Mapped[str] = mapped_column(sa.String(8))
    reason: Mapped[str | None] = mapped_column(sa.String(40))
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    target: Mapped[str | None] = mapped_column(sa.String(128))
    created_at: Mapped[datetime] = mapped_column(default=now)
    next_attempt_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]

    __table_args__ = (
        sa.UniqueConstraint("destination_id", "conversion_id"),
        sa.CheckConstraint("status in ('queued', 'sent', 'failed', 'skipped')", name="status"),
        sa.Index("ix_export_rows_listed", "profile_id", "created_at", "id"),
        sa.Index("ix_export_rows_status", "profile_id", "status", "created_at", "id"),
        sa.Index("ix_export_rows_destination", "profile_id", "destination_id", "created_at", "id"),
        sa.Index("ix_export_rows_narrowed", "profile_id", "destination_id", "status", "created_at", "id"),
        sa.Index(
            "ix_export_rows_failed",
            "profile_id",
            "failed_at",
            "status",
            sqlite_where=sa.text("failed_at is not null"),
            postgresql_where=sa.text("failed_at is not null"),
        ),
        sa.Index("ix_export_rows_due", "destination_id", "status", "next_attempt_at"),
    )
