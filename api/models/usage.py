"""What credentials were used for, by day."""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base


class CredentialUse(Base):
    """One UTC day of one API key or user token, about one place.

    `place_id` is the profile the requests were about, or the workspace where they named no profile; empty for neither.
    """

    __tablename__ = "credential_uses"

    place_id: Mapped[str] = mapped_column(sa.String(36), primary_key=True)
    day: Mapped[date] = mapped_column(sa.Date(), primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(16), primary_key=True)
    credential_id: Mapped[str] = mapped_column(sa.String(36), primary_key=True)
    requests: Mapped[int] = mapped_column(sa.BigInteger())
    units: Mapped[int] = mapped_column(sa.BigInteger())
    refused_4xx: Mapped[int] = mapped_column(sa.BigInteger())
    failed_5xx: Mapped[int] = mapped_column(sa.BigInteger())
    rate_limited: Mapped[int] = mapped_column(sa.BigInteger())
