"""Consumer apps: whoever holds a partner key."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class App(Base):
    """One consumer app. Keys minted for it are partner keys."""

    __tablename__ = "apps"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(sa.String(80), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
