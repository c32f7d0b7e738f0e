"""Mail that waits to be sent, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class OutgoingMail(Base):
    """One message to one person; its id is part of its Message-ID, so a message has the same one at every attempt.

    `status` is queued, sending, sent, failed or unconfirmed (handed over when the line broke: it is not sent again).
    `attachments` are [{file_name, mime_type, path}] with paths under the state folder. What was written is dropped
    when the message has ended, since it may hold a one-time link. `token_digest` is that of the token in it.
    """

    __tablename__ = "outgoing_mail"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str | None] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    kind: Mapped[str] = mapped_column(sa.String(32))
    to_address: Mapped[str] = mapped_column(sa.String(254))
    subject: Mapped[str] = mapped_column(sa.String(255))
    text: Mapped[str | None] = mapped_column(sa.Text())
    html: Mapped[str | None] = mapped_column(sa.Text())
    attachments: Mapped[list[Any]] = mapped_column(default=list)
    report_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    token_digest: Mapped[str | None] = mapped_column(sa.String(64))
    status: Mapped[str] = mapped_column(sa.String(12), default="queued")
    attempts: Mapped[int] = mapped_column(default=0)
    note: Mapped[str | None] = mapped_column(sa.String(255))
    created_at: Mapped[datetime] = mapped_column(default=now)
    next_attempt_at: Mapped[datetime] = mapped_column(default=now)
    handed_over_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]

    __table_args__ = (
        sa.CheckConstraint("status in ('queued', 'sending', 'sent', 'failed', 'unconfirmed')", name="status"),
        sa.Index("ix_outgoing_mail_due", "status", "next_attempt_at"),
    )

    def __repr__(self) -> str:
        return f"<OutgoingMail {self.id} {self.status}>"
