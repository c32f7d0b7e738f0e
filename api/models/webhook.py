"""Outgoing webhooks: who is told of what, the events that happened, and each attempt to tell somebody."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class WebhookSubscription(Base):
    """One address that is told of the events of a workspace, or of one of its profiles.

    `events` are kinds, or `*` for all. Secrets are encrypted under the deployment's key; the previous one signs too
    until `previous_secret_expires_at`. `dead_since` is when a delivery first died with none delivered after it.
    """

    __tablename__ = "webhook_subscriptions"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    profile_id: Mapped[str | None] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    app_id: Mapped[str | None] = mapped_column(sa.String(36))
    url: Mapped[str] = mapped_column(sa.String(2048))
    events: Mapped[list[str]] = mapped_column(default=list)
    secret: Mapped[str] = mapped_column(sa.Text())
    previous_secret: Mapped[str | None] = mapped_column(sa.Text())
    previous_secret_expires_at: Mapped[datetime | None]
    status: Mapped[str] = mapped_column(sa.String(8), default="active")
    failure_reason: Mapped[str | None] = mapped_column(sa.String(32))
    consecutive_failures: Mapped[int] = mapped_column(default=0)
    dead_since: Mapped[datetime | None]
    last_delivery_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now, onupdate=now)

    __table_args__ = (sa.CheckConstraint("status in ('active', 'paused', 'failed')", name="status"),)

    def __repr__(self) -> str:
        return f"<WebhookSubscription {self.id} {self.status}>"


class WebhookEvent(Base):
    """Something that happened and that somebody wanted to be told of; its id is the `webhook-id` of all its deliveries.

    Written in the transaction of the change it tells of. Holds no personal data.
    """

    __tablename__ = "webhook_events"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    profile_id: Mapped[str | None] = mapped_column(sa.String(36))
    type: Mapped[str] = mapped_column(sa.String(48))
    subject: Mapped[str | None] = mapped_column(sa.String(64))
    occurred_at: Mapped[datetime] = mapped_column(default=now)
    data: Mapped[dict[str, Any]] = mapped_column(default=dict)


class WebhookDelivery(Base):
    """One event on its way to one subscription, or at its end.

    `status` is pending, retrying, delivered or dead. A sender holds it until `claimed_until`; one that dies meanwhile
    leaves it to the next, so that a receiver may be told twice but never not at all.
    """

    __tablename__ = "webhook_deliveries"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    subscription_id: Mapped[str] = mapped_column(sa.ForeignKey("webhook_subscriptions.id"))
    event_id: Mapped[str] = mapped_column(sa.ForeignKey("webhook_events.id"), index=True)
    status: Mapped[str] = mapped_column(sa.String(10), default="pending")
    attempts: Mapped[int] = mapped_column(default=0)
    last_status: Mapped[int | None]
    last_error: Mapped[str | None] = mapped_column(sa.String(64))
    next_attempt_at: Mapped[datetime | None] = mapped_column(default=now)
    claimed_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        sa.CheckConstraint("status in ('pending', 'retrying', 'delivered', 'dead')", name="status"),
        sa.Index("ix_webhook_deliveries_due", "status", "next_attempt_at"),
        sa.Index(
            "ix_webhook_deliveries_waiting",
            "subscription_id",
            "next_attempt_at",
            "id",
            sqlite_where=sa.text("next_attempt_at is not null"),
            postgresql_where=sa.text("next_attempt_at is not null"),
        ),
        sa.Index(
            "ix_webhook_deliveries_claimed",
            "claimed_until",
            sqlite_where=sa.text("claimed_until is not null"),
            postgresql_where=sa.text("claimed_until is not null"),
        ),
        sa.Index("ix_webhook_deliveries_listed", "subscription_id", "created_at", "id", "status"),
    )
