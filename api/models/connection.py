"""Connections: one account at one provider, whose data a profile syncs."""

from __future__ import annotations

from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class Connection(Base):
    """One connection. `base_url` points at the provider, or at the bundled sandbox when `is_sandbox`.

    `token` is a sandbox credential here; real providers' tokens are encrypted before they are stored.
    `synced_through` is the last account day that was landed whole.
    """

    __tablename__ = "connections"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    provider: Mapped[str] = mapped_column(sa.String(16))
    kind: Mapped[str] = mapped_column(sa.String(16))
    display_name: Mapped[str] = mapped_column(sa.String(120))
    external_account_id: Mapped[str] = mapped_column(sa.String(128))
    status: Mapped[str] = mapped_column(sa.String(24), default="active")
    status_reason: Mapped[str | None] = mapped_column(sa.String(255))
    base_url: Mapped[str] = mapped_column(sa.String(255))
    token: Mapped[str] = mapped_column(sa.String(512))
    is_sandbox: Mapped[bool] = mapped_column(default=False)
    currency: Mapped[str | None] = mapped_column(sa.String(3))
    timezone: Mapped[str | None] = mapped_column(sa.String(64))
    synced_through: Mapped[date | None]
    synced_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (sa.UniqueConstraint("profile_id", "provider", "external_account_id"),)

    def __repr__(self) -> str:
        return f"<Connection {self.id} {self.provider} {self.status}>"
