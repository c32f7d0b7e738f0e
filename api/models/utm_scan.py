"""What was found in the links of a profile's ads."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id


class UtmScan(Base):
    """One finished scan, of one platform or (None) of all; a newer one of the same replaces it.

    `summary` is the answer of the scan's route but for when and whether it was made anew.
    """

    __tablename__ = "utm_scans"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    platform: Mapped[str | None] = mapped_column(sa.String(32))
    scanned_at: Mapped[datetime]
    summary: Mapped[dict[str, Any]]
