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
    landed_batch: Mapped[str | None] = mapped_column(sa.String(64))

    __table_args__ = (
        sa.UniqueConstraint("profile_id", "dataset", "record_key"),
        sa.Index("ix_ingested_records_batch", "landed_batch", "profile_id", "dataset"),
    )


class Event(Base):
    """One event of POST /events: what makes a repetition known, and whether it was taken back. Holds nobody's data.

    What was sent is an ingested record of the same key. `id` follows from profile and key; `conversation` is a digest
    of the chat conversation whose lead the event is, `serial` the order of arrival.
    """

    __tablename__ = "events"

    serial: Mapped[int] = mapped_column(_serial, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(sa.String(36), unique=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    fingerprint: Mapped[str] = mapped_column(sa.String(64))
    conversion_type: Mapped[str | None] = mapped_column(sa.String(40))
    is_test: Mapped[bool] = mapped_column(default=False)
    conversation: Mapped[str | None] = mapped_column(sa.String(36))
    received_at: Mapped[datetime] = mapped_column(default=now)
    retracted_at: Mapped[datetime | None]

    __table_args__ = (
        sa.Index("ix_events_profile_id_conversation", "profile_id", "conversation"),
        # what came in lately is counted off the index, tests apart
        sa.Index("ix_events_received", "profile_id", "received_at", "is_test"),
    )


class Import(Base):
    """One file given to the importer. The same bytes for the same set and profile are the same import.

    `status` is queued, loading, loaded or rejected; `errors` are the first quarantined rows as {row, field, reason}.
    """

    __tablename__ = "imports"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str | None] = mapped_column(sa.ForeignKey("profiles.id"))
    scope: Mapped[str] = mapped_column(sa.String(36))
    dataset: Mapped[str] = mapped_column(sa.String(40))
    file_name: Mapped[str] = mapped_column(sa.String(255))
    sha256: Mapped[str] = mapped_column(sa.String(64))
    status: Mapped[str] = mapped_column(sa.String(16))
    reason: Mapped[str | None] = mapped_column(sa.String(500))
    rows_in: Mapped[int] = mapped_column(default=0)
    rows_loaded: Mapped[int] = mapped_column(default=0)
    rows_quarantined: Mapped[int] = mapped_column(default=0)
    errors: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")
    created_at: Mapped[datetime] = mapped_column(default=now)

    # scope is the profile's id, or "_shared" for deployment-wide sets: a null profile would not be unique
    __table_args__ = (
        sa.UniqueConstraint("scope", "dataset", "sha256"),
        sa.Index("ix_imports_listed", "profile_id", "created_at", "id"),
    )
