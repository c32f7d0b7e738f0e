"""Workspaces: the top-level container of billing, members and profiles."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class Workspace(Base):
    """One workspace."""

    __tablename__ = "workspaces"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(sa.String(120))
    timezone: Mapped[str] = mapped_column(sa.String(64), default="UTC")
    plan: Mapped[str] = mapped_column(sa.String(16), default="starter")
    created_at: Mapped[datetime] = mapped_column(default=now)
    archived_at: Mapped[datetime | None]
