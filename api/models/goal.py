"""Conversion goals that differ from the built-in ones, or stand beside them."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now


class GoalRow(Base):
    """A custom goal of a profile, or what was changed of a built-in one.

    A built-in goal that nobody changed has no row (`api.goals`). `revenue_type` is cash, pipeline or gross.
    """

    __tablename__ = "goals"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    conversion_key: Mapped[str] = mapped_column(sa.String(40))
    display_name: Mapped[str] = mapped_column(sa.String(80))
    source_event_names: Mapped[list[str]]
    revenue_type: Mapped[str] = mapped_column(sa.String(8))
    attribution_eligible: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        sa.UniqueConstraint("profile_id", "conversion_key"),
        sa.CheckConstraint("revenue_type in ('cash', 'pipeline', 'gross')", name="revenue_type"),
    )
