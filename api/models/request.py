"""What requests leave behind: units used, idempotent answers, and the audit trail."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now

_serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")


class RateUse(Base):
    """One bucket: the moments (epoch microseconds) and units accepted in the last window, as a short list."""

    __tablename__ = "rate_uses"

    bucket: Mapped[str] = mapped_column(sa.String(120), primary_key=True)
    uses: Mapped[list[Any]] = mapped_column(default=list)


class IdempotencyRecord(Base):
    """One Idempotency-Key of one principal, with the answer that is replayed for 24 hours."""

    __tablename__ = "idempotency_records"

    principal: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    key: Mapped[str] = mapped_column(sa.String(255), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(sa.String(64))
    started_at: Mapped[datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime | None]
    status: Mapped[int | None]
    body: Mapped[str | None] = mapped_column(sa.Text)


class AuditEntry(Base):
    """One attempt to change something, recorded whether it was allowed or refused."""

    __tablename__ = "audit_entries"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    at: Mapped[datetime] = mapped_column(default=now)
    workspace_id: Mapped[str | None] = mapped_column(sa.String(36))
    profile_id: Mapped[str | None] = mapped_column(sa.String(36))
    actor_kind: Mapped[str] = mapped_column(sa.String(16))
    actor_id: Mapped[str | None] = mapped_column(sa.String(36))
    category: Mapped[str] = mapped_column(sa.String(16), default="classification", server_default="classification")
    action: Mapped[str] = mapped_column(sa.String(64))
    outcome: Mapped[str] = mapped_column(sa.String(32))
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    request_id: Mapped[str | None] = mapped_column(sa.String(40))

    # one for each way in which the trail is narrowed, so that a page never reads the rows that it leaves out
    __table_args__ = (
        sa.Index("ix_audit_entries_workspace_id_at", "workspace_id", "at"),
        sa.Index("ix_audit_entries_category", "workspace_id", "category", "at"),
        sa.Index("ix_audit_entries_profile", "workspace_id", "profile_id", "at"),
        sa.Index("ix_audit_entries_profile_category", "workspace_id", "profile_id", "category", "at"),
    )
