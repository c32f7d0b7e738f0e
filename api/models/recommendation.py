"""Recommendations: what the scores suggest doing about an ad, until somebody decides or its ground is gone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class Recommendation(Base):
    """One suggestion about one ad; at most one per ad is open.

    `status` is open, applied, dismissed, expired (its ground is gone) or superseded (by a stronger one). `evidence`
    holds figures and words of ours only. The action's budgets are in minor units of `currency`.
    """

    __tablename__ = "recommendations"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    kind: Mapped[str] = mapped_column(sa.String(16))
    status: Mapped[str] = mapped_column(sa.String(12), default="open")
    entity_id: Mapped[str] = mapped_column(sa.String(36))
    entity_external_id: Mapped[str] = mapped_column(sa.String(128))
    entity_name: Mapped[str | None] = mapped_column(sa.Text())
    platform: Mapped[str] = mapped_column(sa.String(32))
    score_window: Mapped[str] = mapped_column(sa.String(8))
    evidence: Mapped[dict[str, Any]]
    action_type: Mapped[str] = mapped_column(sa.String(16), default="none")
    action_level: Mapped[str | None] = mapped_column(sa.String(8))
    action_entity_id: Mapped[str | None] = mapped_column(sa.String(36))
    from_minor: Mapped[int | None] = mapped_column(sa.BigInteger())
    to_minor: Mapped[int | None] = mapped_column(sa.BigInteger())
    currency: Mapped[str | None] = mapped_column(sa.String(3))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    decided_at: Mapped[datetime | None]
    decided_by_kind: Mapped[str | None] = mapped_column(sa.String(16))
    decided_by_id: Mapped[str | None] = mapped_column(sa.String(36))

    __table_args__ = (
        sa.CheckConstraint("status in ('open', 'applied', 'dismissed', 'expired', 'superseded')", name="status"),
        sa.Index("ix_recommendations_profile_id_created_at", "profile_id", "created_at"),
        sa.Index(
            "uq_recommendations_open",
            "profile_id",
            "entity_id",
            unique=True,
            sqlite_where=sa.text("status = 'open'"),
            postgresql_where=sa.text("status = 'open'"),
        ),
    )

    def __repr__(self) -> str:
        return f"<Recommendation {self.id} {self.kind} {self.status}>"


class RecommendationLook(Base):
    """The snapshot that a profile's recommendations were last made from: each is looked at once."""

    __tablename__ = "recommendation_looks"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    snapshot_id: Mapped[str] = mapped_column(sa.String(36))
    looked_at: Mapped[datetime] = mapped_column(default=now)
