"""Ads that lead their leaderboards and studies that are over, and since when."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now


class Leader(Base):
    """One ad that leads in the newest published snapshot; `since` is when that was first seen without a break."""

    __tablename__ = "leaders"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    ad_id: Mapped[str] = mapped_column(sa.String(36), primary_key=True)
    since: Mapped[datetime] = mapped_column(default=now, index=True)


class FinishedStudy(Base):
    """One study of an ad platform that is over in the newest published snapshot; `since` as of `Leader`."""

    __tablename__ = "finished_studies"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    experiment_id: Mapped[str] = mapped_column(sa.String(36), primary_key=True)
    since: Mapped[datetime] = mapped_column(default=now, index=True)
