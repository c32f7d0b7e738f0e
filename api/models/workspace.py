"""Workspaces: the top-level container of billing, members and profiles."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now
from api.ordered_text import ordered_text

PROVISIONED = "oauth"


class Workspace(Base):
    """One workspace.

    `acquisition_source` is direct, agent, oauth or storefront; with oauth `provisioned_by_app_id` names the app. Once
    archived, `archived_owner_ids` may still ask for the archive result, which `archive_counts` keeps.

    `is_own` is the one that commands make profiles in, whatever others call theirs. `plan` is what counts now: after
    `plan_ends_at`, when a trial or an unpaid period is over, that is starter.
    """

    __tablename__ = "workspaces"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(ordered_text(120))
    timezone: Mapped[str] = mapped_column(sa.String(64), default="UTC")
    stated_plan: Mapped[str] = mapped_column("plan", sa.String(16), default="starter")
    plan_ends_at: Mapped[datetime | None]
    is_healthcare_agency: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    acquisition_source: Mapped[str] = mapped_column(sa.String(16), default="direct", server_default="direct")
    provisioned_by_app_id: Mapped[str | None] = mapped_column(sa.String(36), index=True)
    reporting_currency: Mapped[str] = mapped_column(sa.String(3), default="USD", server_default="USD")
    currency_set_at: Mapped[datetime | None]
    currency_set_by: Mapped[str | None] = mapped_column(sa.String(36))
    pii_mode: Mapped[str] = mapped_column(sa.String(16), default="masked_default", server_default="masked_default")
    mcp_writeback_enabled: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    mcp_set_at: Mapped[datetime | None]
    mcp_set_by: Mapped[str | None] = mapped_column(sa.String(36))
    is_own: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    created_at: Mapped[datetime] = mapped_column(default=now)
    archived_at: Mapped[datetime | None]
    archived_owner_ids: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    archive_counts: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")

    @property
    def plan(self) -> str:
        """starter, growth, agency or enterprise. Setting it makes it last; `api.subscriptions` sets an end too."""
        is_over = self.plan_ends_at is not None and now() >= self.plan_ends_at
        return "starter" if is_over else self.stated_plan

    @plan.setter
    def plan(self, plan: str) -> None:
        self.stated_plan, self.plan_ends_at = plan, None

    @property
    def is_provisioned(self) -> bool:
        """Whether an app made the workspace for one of its users: nobody of it gets mail from this deployment."""
        return self.acquisition_source == PROVISIONED
