"""Where a profile's conversions go while health is concerned, and the customer lists that partners keep for it."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class DatasetTarget(Base):
    """Which of two datasets of one kind is fed: `existing`, or the `clean` one that was made for it.

    `clean_id` stays when the target goes back, so that no second one is made. A kind never switched has no row.
    """

    __tablename__ = "dataset_targets"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    dataset: Mapped[str] = mapped_column(sa.String(16), primary_key=True)
    target: Mapped[str] = mapped_column(sa.String(16))
    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"))
    existing_id: Mapped[str] = mapped_column(sa.String(64))
    clean_id: Mapped[str] = mapped_column(sa.String(64))
    updated_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        sa.CheckConstraint("dataset in ('website', 'chatapp', 'social')", name="dataset"),
        sa.CheckConstraint("target in ('clean', 'existing')", name="target"),
    )


class PartnerAudience(Base):
    """One customer list at an ad platform; who is on it is kept there alone.

    Until a first request about it was answered `held_until` is when the one at work on it, if any, gives it up.
    """

    __tablename__ = "partner_audiences"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"))
    name: Mapped[str] = mapped_column(sa.String(80))
    platform_audience_id: Mapped[str] = mapped_column(sa.String(64))
    held_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)
