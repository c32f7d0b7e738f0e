"""Pipeline runs that may publish: their ids are the fencing tokens."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now

_serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")


class Run(Base):
    """One run taken at its start; a run with a smaller id can never publish over one with a larger."""

    __tablename__ = "runs"

    id: Mapped[int] = mapped_column(_serial, primary_key=True, autoincrement=True)
    started_at: Mapped[datetime] = mapped_column(default=now)
    published_at: Mapped[datetime | None]
    snapshot_id: Mapped[str | None] = mapped_column(sa.String(36))

    # without AUTOINCREMENT SQLite gives the id of a deleted last row again: tokens must never repeat
    __table_args__ = {"sqlite_autoincrement": True}
