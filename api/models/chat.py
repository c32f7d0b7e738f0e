"""The chat app's templates as they were last seen, and the media whose bytes are kept for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now
from api.ordered_text import ordered_text


class ChatTemplate(Base):
    """One template of one connection in one language; gone upstream it is DELETED."""

    __tablename__ = "chat_templates"

    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"), primary_key=True)
    name: Mapped[str] = mapped_column(ordered_text(512), primary_key=True)
    language: Mapped[str] = mapped_column(ordered_text(16), primary_key=True)
    platform_id: Mapped[str | None] = mapped_column(sa.String(64))
    category: Mapped[str | None] = mapped_column(sa.String(32))
    status: Mapped[str] = mapped_column(sa.String(32))
    quality_score: Mapped[str | None] = mapped_column(sa.String(8))
    components: Mapped[list[Any] | None] = mapped_column(sa.JSON)
    status_changed_at: Mapped[datetime | None]
    last_synced_at: Mapped[datetime] = mapped_column(default=now)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)


class ChatMedia(Base):
    """Media that somebody sent, whose bytes lie in a file of this name until `expires_at`."""

    __tablename__ = "chat_media"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"))
    media_id: Mapped[str] = mapped_column(sa.String(64))
    mime_type: Mapped[str] = mapped_column(sa.String(128))
    size_bytes: Mapped[int] = mapped_column(sa.BigInteger)
    expires_at: Mapped[datetime] = mapped_column(index=True)

    __table_args__ = (sa.UniqueConstraint("connection_id", "media_id"),)
