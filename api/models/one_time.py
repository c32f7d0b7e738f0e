"""One-time tokens that a mail carries."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class OneTimeToken(Base):
    """One token, as its digest, for one use within its hour. Without a `user_id` it opens nothing.

    `kind` is password_reset or email_verification.
    """

    __tablename__ = "one_time_tokens"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    kind: Mapped[str] = mapped_column(sa.String(24))
    user_id: Mapped[str | None] = mapped_column(sa.ForeignKey("users.id"), index=True)
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]

    __table_args__ = (sa.CheckConstraint("kind in ('password_reset', 'email_verification')", name="kind"),)
