"""Signatures under the agreement on protected health information."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class AgreementSignature(Base):
    """One signature for one profile under one version of the text."""

    __tablename__ = "agreement_signatures"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    version: Mapped[str] = mapped_column(sa.String(16))
    text_hash: Mapped[str] = mapped_column(sa.String(64))
    signatory_name: Mapped[str] = mapped_column(sa.String(120))
    signatory_title: Mapped[str] = mapped_column(sa.String(120))
    signed_by_kind: Mapped[str] = mapped_column(sa.String(16))
    signed_by_id: Mapped[str] = mapped_column(sa.String(36))
    signed_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (sa.UniqueConstraint("profile_id", "version"),)
