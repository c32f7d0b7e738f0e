"""How a workspace looks in reports and mail, and the domain it sends under."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class Branding(Base):
    """One workspace's looks. `logo_name` is the file under `logos/` of the state folder, and part of its address."""

    __tablename__ = "brandings"

    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), primary_key=True)
    display_name: Mapped[str | None] = mapped_column(sa.String(120))
    logo_name: Mapped[str | None] = mapped_column(sa.String(40), unique=True)
    primary_color: Mapped[str | None] = mapped_column(sa.String(7))
    accent_color: Mapped[str | None] = mapped_column(sa.String(7))
    sender_name: Mapped[str | None] = mapped_column(sa.String(120))
    reply_to_email: Mapped[str | None] = mapped_column(sa.String(254))
    website_url: Mapped[str | None] = mapped_column(sa.String(500))
    report_footer: Mapped[str | None] = mapped_column(sa.String(500))
    locale: Mapped[str] = mapped_column(sa.String(2), default="en")
    updated_at: Mapped[datetime] = mapped_column(default=now)


class SenderDomain(Base):
    """The domain a workspace's reports are sent under; only the domain's own DNS makes `status` verified.

    `private_key` is the DKIM key, encrypted under the deployment's key; `found` is what DNS answered last, per record.
    `bad_days` counts days in a row on which a verified domain's records were not right.
    """

    __tablename__ = "sender_domains"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), unique=True)
    domain: Mapped[str] = mapped_column(sa.String(253))
    local_part: Mapped[str] = mapped_column(sa.String(64))
    selector: Mapped[str] = mapped_column(sa.String(63))
    public_key: Mapped[str] = mapped_column(sa.Text())
    private_key: Mapped[str] = mapped_column(sa.Text())
    status: Mapped[str] = mapped_column(sa.String(8), default="pending")
    found: Mapped[list[Any]] = mapped_column(default=list)
    bad_days: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=now)
    checked_at: Mapped[datetime | None]
    verified_at: Mapped[datetime | None]

    __table_args__ = (sa.CheckConstraint("status in ('pending', 'verified', 'failed')", name="status"),)

    @property
    def from_address(self) -> str:
        """The sender of mail under this domain."""
        return f"{self.local_part}@{self.domain}"

    def __repr__(self) -> str:
        return f"<SenderDomain {self.domain} {self.status}>"
