"""Customers kept out of every audience."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now


class AudienceExclusion(Base):
    """One excluded customer, as the keyed hash of an identifier: whoever has the identifier is in no audience."""

    __tablename__ = "audience_exclusions"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    digest: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    excluded_at: Mapped[datetime] = mapped_column(default=now)
