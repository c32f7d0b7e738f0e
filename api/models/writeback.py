"""What agents changed on ad platforms, or tried to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now

OUTCOMES = ("pending", "dry_run", "done", "refused", "failed")


class Writeback(Base):
    """One change that a user token asked an ad platform for; the row is there before the platform is asked.

    `target` is {kind, platform_id, name}; `request` holds numbers and ids, never text that somebody wrote.
    """

    __tablename__ = "writebacks"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    at: Mapped[datetime] = mapped_column(default=now)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"))
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    user_id: Mapped[str] = mapped_column(sa.ForeignKey("users.id"))
    token_prefix: Mapped[str] = mapped_column(sa.String(24))
    operation: Mapped[str] = mapped_column(sa.String(64))
    target: Mapped[dict[str, Any]]
    dry_run: Mapped[bool] = mapped_column(default=False)
    request: Mapped[dict[str, Any]] = mapped_column(default=dict)
    outcome: Mapped[str] = mapped_column(sa.String(8), default="pending")
    error_code: Mapped[str | None] = mapped_column(sa.String(64))
    idempotency_key: Mapped[str | None] = mapped_column(sa.String(255))
    request_id: Mapped[str | None] = mapped_column(sa.String(40))

    __table_args__ = (
        sa.CheckConstraint("outcome in ('pending', 'dry_run', 'done', 'refused', 'failed')", name="outcome"),
        sa.Index("ix_writebacks_listed", "workspace_id", "at", "id"),
        sa.Index("ix_writebacks_profile", "workspace_id", "profile_id", "at", "id"),
        sa.Index("ix_writebacks_outcome", "workspace_id", "outcome", "at", "id"),
    )
