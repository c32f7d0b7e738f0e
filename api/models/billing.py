"""Billing: what a workspace pays for, the pages that people are sent to, and what the processor called to say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class Subscription(Base):
    """What a workspace's plan rests on: a trial, a grant of the operator, and what is paid.

    These are facts with their moments; `api.subscriptions.standing` says what they amount to at a moment. `status` is
    of the paid part: null (never paid), active, past_due or canceled. `billing` is card, storefront or none.
    """

    __tablename__ = "subscriptions"

    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), primary_key=True)
    trial_plan: Mapped[str | None] = mapped_column(sa.String(16))
    trial_start: Mapped[datetime | None]
    trial_end: Mapped[datetime | None]
    granted_plan: Mapped[str | None] = mapped_column(sa.String(16))
    billing: Mapped[str] = mapped_column(sa.String(16), default="none")
    paid_plan: Mapped[str | None] = mapped_column(sa.String(16))
    status: Mapped[str | None] = mapped_column(sa.String(16))
    customer_ref: Mapped[str | None] = mapped_column(sa.String(255))
    subscription_ref: Mapped[str | None] = mapped_column(sa.String(255))
    period_start: Mapped[datetime | None]
    period_end: Mapped[datetime | None]
    cancel_at: Mapped[datetime | None]
    past_due_since: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        sa.CheckConstraint("billing in ('card', 'storefront', 'none')", name="billing"),
        sa.CheckConstraint("status in ('active', 'past_due', 'canceled')", name="status"),
    )


class Handoff(Base):
    """One page of somebody else's that a person was sent to: `kind` is checkout, plan_selection or connect.

    `status` is pending, completed, failed, expired or canceled, as it was stored; past `expires_at` a pending one is
    expired. `ended_at` is the moment of the end by the clock of whoever ended it. `external_ref` is the other side's
    id of the page; of a connect it is the digest of the state that the provider hands back, until that came back.
    `return_url` is where whoever began it wants the person to end.
    """

    __tablename__ = "handoffs"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    kind: Mapped[str] = mapped_column(sa.String(16))
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    profile_id: Mapped[str | None] = mapped_column(sa.ForeignKey("profiles.id"))
    plan: Mapped[str | None] = mapped_column(sa.String(16))
    interval: Mapped[str | None] = mapped_column(sa.String(8))
    connection_id: Mapped[str | None] = mapped_column(sa.ForeignKey("connections.id"))
    return_url: Mapped[str | None] = mapped_column(sa.String(500))
    url: Mapped[str] = mapped_column(sa.Text)
    external_ref: Mapped[str | None] = mapped_column(sa.String(255))
    status: Mapped[str] = mapped_column(sa.String(16), default="pending")
    reason: Mapped[str | None] = mapped_column(sa.String(32))
    result: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]

    __table_args__ = (
        sa.CheckConstraint("kind in ('checkout', 'plan_selection', 'connect')", name="kind"),
        sa.CheckConstraint("status in ('pending', 'completed', 'failed', 'expired', 'canceled')", name="status"),
    )

    def __repr__(self) -> str:
        return f"<Handoff {self.id} {self.kind} {self.status}>"


class HookDelivery(Base):
    """One delivery of a provider, kept once: its kind, its moment, what it is about, and the facts we act on.

    The body itself, which names people, is not kept; `facts` holds ids, states and moments only. `processed_at` is null
    for kinds that nothing acts on.
    """

    __tablename__ = "hook_deliveries"

    source: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    delivery_id: Mapped[str] = mapped_column(sa.String(255), primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(120))
    occurred_at: Mapped[datetime]
    object_ref: Mapped[str | None] = mapped_column(sa.String(255))
    workspace_id: Mapped[str | None] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    received_at: Mapped[datetime] = mapped_column(default=now)
    processed_at: Mapped[datetime | None]
