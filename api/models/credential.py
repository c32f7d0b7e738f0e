"""API keys: only the digest of the secret is kept."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class ApiKey(Base):
    """One API key, minted for exactly one profile. `lineage_id` is shared by a key and its rotations.

    A key with an `app_id` is a partner key: it was minted for a consumer app.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    lineage_id: Mapped[str] = mapped_column(sa.String(36), default=new_id, index=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    app_id: Mapped[str | None] = mapped_column(sa.ForeignKey("apps.id"), index=True)
    name: Mapped[str] = mapped_column(sa.String(80))
    prefix: Mapped[str] = mapped_column(sa.String(24))
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    scopes: Mapped[list[str]]
    allowed_ips: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    created_by_kind: Mapped[str] = mapped_column(sa.String(16), default="system", server_default="system")
    created_by_id: Mapped[str | None] = mapped_column(sa.String(36))
    rotated_from_id: Mapped[str | None] = mapped_column(sa.String(36))
    rotated_to_id: Mapped[str | None] = mapped_column(sa.String(36))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
