"""Who read whose personal data, and when."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class PiiAccess(Base):
    """One answer that told personal data: by whom, through which route, about how many; never what it told.

    Append-only by trigger; rows outlive the profile and the credential that they name.
    """

    __tablename__ = "pii_accesses"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    at: Mapped[datetime] = mapped_column(default=now)
    workspace_id: Mapped[str] = mapped_column(sa.String(36))
    profile_id: Mapped[str] = mapped_column(sa.String(36))
    actor_kind: Mapped[str] = mapped_column(sa.String(16))
    actor_id: Mapped[str] = mapped_column(sa.String(36))
    credential_prefix: Mapped[str | None] = mapped_column(sa.String(24))
    method: Mapped[str] = mapped_column(sa.String(8))
    route: Mapped[str] = mapped_column(sa.String(120))
    subject: Mapped[str] = mapped_column(sa.String(8))
    customer_key: Mapped[str | None] = mapped_column(sa.String(64))
    record_count: Mapped[int]
    pii_level: Mapped[str] = mapped_column(sa.String(6))
    request_id: Mapped[str | None] = mapped_column(sa.String(40))

    __table_args__ = (
        sa.Index("ix_pii_accesses_workspace_id_at", "workspace_id", "at"),
        sa.Index("ix_pii_accesses_profile", "workspace_id", "profile_id", "at"),
        sa.Index("ix_pii_accesses_actor", "workspace_id", "actor_id", "at"),
        sa.CheckConstraint("subject in ('customer', 'visitor', 'order', 'payment', 'list')", name="subject"),
        sa.CheckConstraint("pii_level in ('masked', 'full')", name="pii_level"),
    )
