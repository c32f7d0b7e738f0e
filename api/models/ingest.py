"""What came in through the API (or the demo's site), before it is landed in the lake."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now

_serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")


class IngestedRecord(Base):
    """One accepted record of one inbound data set, kept as sent. Unique per (profile, dataset, key)."""

    __tablename__ = "ingested_records"

    id: Mapped[int] = mapped_column(_serial, primary_key=True, autoincrement=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    dataset: Mapped[str] = mapped_column(sa.String(40))
    record_key: Mapped[str] = mapped_column(sa.String(255))
    fingerprint: Mapped[str] = mapped_column(sa.String(64))
    record: Mapped[dict[str, Any]]
    received_at: Mapped[datetime] = mapped_column(default=now)
    landed_batch: Mapped[str | None] = mapped_column(sa.String(64), index=True)

    __table_args__ = (sa.UniqueConstraint("profile_id", "dataset", "record_key"),)


class Import(Base):
    """One file given to the importer. The same bytes for the same set and profile are the same import."""

    __tablename__ = "imports"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str | None] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    scope: Mapped[str] = mapped_column(sa.String(36))
    dataset: Mapped[str] = mapped_column(sa.String(40))
    file_name: Mapped[str] = mapped_column(sa.String(255))
    sha256: Mapped[str] = mapped_column(sa.String(64))
    status: Mapped[str] = mapped_column(sa.String(16))
    reason: Mapped[str | None] = mapped_column(sa.String(500))
    rows_in: Mapped[int] = mapped_column(default=0)
    rows_loaded: Mapped[int] = mapped_column(default=0)
    rows_quarantined: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=now)

    # scope is the profile's id, or "_shared" for deployment-wide sets: a null profile would not be unique
    __table_args__ = (sa.UniqueConstraint("scope", "dataset", "sha256"),)
