"""Attempts to change something at an ad platform, from before it is asked until it is known how that ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class PlatformChange(Base):
    """One attempt. Its entry in the audit trail, which nobody can alter, is written when it ends, under the same id.

    `platform_id` is the platform's, or what the caller named as such. An attempt that is not a dry run and has not
    ended keeps every other one off the same object. `details` are the entry's; `actor_*` and `request_id` as there.
    """

    __tablename__ = "platform_changes"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.String(36))
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    platform_id: Mapped[str] = mapped_column(sa.String(128))
    action: Mapped[str] = mapped_column(sa.String(64))
    dry_run: Mapped[bool]
    details: Mapped[dict[str, Any]]
    actor_kind: Mapped[str] = mapped_column(sa.String(16))
    actor_id: Mapped[str | None] = mapped_column(sa.String(36))
    request_id: Mapped[str | None] = mapped_column(sa.String(40))
    writeback_id: Mapped[str | None] = mapped_column(sa.ForeignKey("writebacks.id"))
    started_at: Mapped[datetime] = mapped_column(default=now)
    ended_at: Mapped[datetime | None]

    __table_args__ = (
        sa.Index(
            "ix_platform_changes_open",
            "started_at",
            sqlite_where=sa.text("ended_at is null"),
            postgresql_where=sa.text("ended_at is null"),
        ),
        sa.Index(
            "uq_platform_changes_open",
            "profile_id",
            "platform_id",
            unique=True,
            sqlite_where=sa.text("ended_at is null and not dry_run"),
            postgresql_where=sa.text("ended_at is null and not dry_run"),
        ),
    )
