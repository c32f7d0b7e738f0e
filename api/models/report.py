"""Reports: files rendered from one snapshot, and the schedules that order them."""

from __future__ import annotations

from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class Report(Base):
    """One report of one profile and window; its file lies under `reports/` of the state folder.

    `status` is queued, rendering, ready, sending, sent or failed. With `is_sent` it goes to `recipients` once it is
    ready. `snapshot_id` is the snapshot that all its figures are from.
    """

    __tablename__ = "reports"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"))
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    template: Mapped[str] = mapped_column(sa.String(24))
    date_from: Mapped[date]
    date_to: Mapped[date]
    locale: Mapped[str] = mapped_column(sa.String(2))
    format: Mapped[str] = mapped_column(sa.String(4))
    status: Mapped[str] = mapped_column(sa.String(12), default="queued", index=True)
    failure_reason: Mapped[str | None] = mapped_column(sa.String(64))
    snapshot_id: Mapped[str | None] = mapped_column(sa.String(36))
    is_sent: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    recipients: Mapped[list[str]] = mapped_column(default=list)
    batch_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    schedule_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    attempts: Mapped[int] = mapped_column(default=0)
    next_attempt_at: Mapped[datetime] = mapped_column(default=now)
    begun_at: Mapped[datetime | None]
    file_name: Mapped[str | None] = mapped_column(sa.String(64))
    created_at: Mapped[datetime] = mapped_column(default=now)
    ready_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]

    __table_args__ = (
        sa.CheckConstraint("status in ('queued', 'rendering', 'ready', 'sending', 'sent', 'failed')", name="status"),
        sa.Index("ix_reports_listed", "workspace_id", "created_at", "id"),
        sa.Index("ix_reports_profile", "profile_id", "created_at", "id"),
    )

    def __repr__(self) -> str:
        return f"<Report {self.id} {self.status}>"


class ReportSchedule(Base):
    """Orders one report per period: weekly the last seven days, monthly the last month, at `hour` of the profile's day.

    `weekday` is 1 (Monday) to 7. `last_status` is the status of the last report, or skipped where nothing was to tell.
    """

    __tablename__ = "report_schedules"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    template: Mapped[str] = mapped_column(sa.String(24))
    cadence: Mapped[str] = mapped_column(sa.String(8))
    weekday: Mapped[int | None]
    day_of_month: Mapped[int | None]
    hour: Mapped[int]
    recipients: Mapped[list[str]] = mapped_column(default=list)
    locale: Mapped[str] = mapped_column(sa.String(2), default="en")
    format: Mapped[str] = mapped_column(sa.String(4), default="pdf")
    enabled: Mapped[bool] = mapped_column(default=True, server_default=sa.true())
    next_run_at: Mapped[datetime | None]
    last_run_at: Mapped[datetime | None]
    last_status: Mapped[str | None] = mapped_column(sa.String(12))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        sa.UniqueConstraint("profile_id", "template"),
        sa.CheckConstraint("cadence in ('weekly', 'monthly')", name="cadence"),
        sa.CheckConstraint("hour between 0 and 23", name="hour"),
    )
