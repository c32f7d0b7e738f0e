"""What a person has already looked at."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now


class TabSeen(Base):
    """When a person last looked at one tab of a workspace."""

    __tablename__ = "tabs_seen"

    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(sa.ForeignKey("users.id"), primary_key=True)
    tab: Mapped[str] = mapped_column(sa.String(24), primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(default=now)
