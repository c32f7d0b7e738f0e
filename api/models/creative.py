"""Creative analyses: one job per ad and state of its creative."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class CreativeAnalysis(Base):
    """One analysis of what an ad showed when it was asked for.

    `creative` is what there was to read, `creative_hash` names that state, and `result` holds the attributes found.
    `account` is the credential whose daily allowance it counts in. `status` is queued, running, succeeded or failed.
    """

    __tablename__ = "creative_analyses"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    account: Mapped[str] = mapped_column(sa.String(64))
    ad_id: Mapped[str] = mapped_column(sa.String(36))
    ad_external_id: Mapped[str] = mapped_column(sa.String(128))
    creative_hash: Mapped[str] = mapped_column(sa.String(32))
    creative: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(sa.String(12), default="queued", index=True)
    attempts: Mapped[int] = mapped_column(default=0)
    next_attempt_at: Mapped[datetime] = mapped_column(default=now)
    begun_at: Mapped[datetime | None]
    requested_at: Mapped[datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime | None]
    failure_reason: Mapped[str | None] = mapped_column(sa.String(64))
    result: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))

    __table_args__ = (
        sa.CheckConstraint("status in ('queued', 'running', 'succeeded', 'failed')", name="status"),
        sa.Index("ix_creative_analyses_profile_id_requested_at", "profile_id", "requested_at"),
        sa.Index("ix_creative_analyses_account_requested_at", "account", "requested_at"),
    )

    def __repr__(self) -> str:
        return f"<CreativeAnalysis {self.id} {self.status}>"
