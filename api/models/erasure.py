"""Erasures of people: the receipt, and keyed hashes of what must not come back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class Erasure(Base):
    """One request to erase a person. `secret` makes the person's random names and is destroyed when all is rewritten.

    `found` tells who that is from before the first file is rewritten until all are, for who goes on after a crash.
    `rewritten_at` is set once no file and no row holds the person; the next publication completes the erasure.
    """

    __tablename__ = "erasures"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    status: Mapped[str] = mapped_column(sa.String(16), default="received")
    reason: Mapped[str] = mapped_column(sa.String(32))
    reference: Mapped[str | None] = mapped_column(sa.String(120))
    secret: Mapped[str | None] = mapped_column(sa.String(64))
    counts: Mapped[dict[str, Any]]
    found: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    requested_at: Mapped[datetime] = mapped_column(default=now)
    due_at: Mapped[datetime]
    rewritten_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]

    def __repr__(self) -> str:
        return f"<Erasure {self.id} {self.status}>"


class ErasedIdentifier(Base):
    """Keyed hash of one identifier of an erased person, kept solely to refuse its re-import."""

    __tablename__ = "erased_identifiers"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    digest: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    erasure_id: Mapped[str] = mapped_column(sa.ForeignKey("erasures.id"), index=True)
