"""What an app switched on or off for a profile."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now

PARTNER_AUDIENCES = "partner_audiences"


class Entitlement(Base):
    """One feature of one profile as an app last set it. A feature never set has no row.

    Attribution is read off `Profile.attribution_enabled`; its row only says when that was set.
    """

    __tablename__ = "entitlements"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    feature: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    is_enabled: Mapped[bool]
    updated_at: Mapped[datetime] = mapped_column(default=now)
