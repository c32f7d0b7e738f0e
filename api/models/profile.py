"""Profiles: one advertised business, with the settings its figures are computed under."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now
from api.ordered_text import ordered_text

LONGEST_NAME = 120


class Profile(Base):
    """One profile; `lookback_days` and `half_life_days` are the attribution settings of `docs/models.md`.

    A profile that an app provisioned takes writes only while `attribution_enabled`. `monthly_budget` is in the
    reporting currency. `goals_version` counts the changes of its goals.
    """

    __tablename__ = "profiles"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    name: Mapped[str] = mapped_column(ordered_text(LONGEST_NAME))
    timezone: Mapped[str] = mapped_column(sa.String(64))
    reporting_currency: Mapped[str] = mapped_column(sa.String(3))
    is_demo: Mapped[bool] = mapped_column(default=False)
    lookback_days: Mapped[int] = mapped_column(default=90)
    half_life_days: Mapped[int] = mapped_column(default=7)
    inherit_recurring: Mapped[bool] = mapped_column(default=True)
    own_domains: Mapped[list[str]] = mapped_column(default=list)
    payment_hosts: Mapped[list[str]] = mapped_column(default=list)
    provisioned_by_app_id: Mapped[str | None] = mapped_column(sa.String(36))
    attribution_enabled: Mapped[bool] = mapped_column(default=True, server_default=sa.true())
    privacy_mode: Mapped[str] = mapped_column(sa.String(16), default="standard", server_default="standard")
    website: Mapped[str | None] = mapped_column(sa.String(500))
    monthly_budget: Mapped[Decimal | None] = mapped_column(sa.Numeric(18, 4))
    outcome_target: Mapped[int | None]
    goals_version: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(default=now)
    archived_at: Mapped[datetime | None]

    __table_args__ = (
        sa.CheckConstraint("lookback_days between 1 and 365", name="lookback"),
        sa.CheckConstraint("half_life_days between 1 and 90", name="half_life"),
        sa.CheckConstraint("privacy_mode in ('standard', 'platform_safe', 'hipaa')", name="privacy_mode"),
    )

    @property
    def settings_version(self) -> str:
        """Hash of everything that changes figures; part of every ETag and stamped on every snapshot."""
        parts = [self.timezone, self.reporting_currency, self.lookback_days, self.half_life_days]
        parts += [self.inherit_recurring, sorted(self.own_domains), sorted(self.payment_hosts)]
        # a profile whose goals nobody changed keeps the version it had before there were any to change
        parts += [self.goals_version] if self.goals_version else []
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
