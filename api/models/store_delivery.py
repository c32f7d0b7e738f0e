"""What connected stores call to say, and the copies of stores that have to go."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class StoreDelivery(Base):
    """One delivery of a store, kept once per connection and delivery.

    The body, which may name people, is not kept: `facts` holds ids, moments and hashes of who is meant. `delivery_id`
    is the store's id of the delivery, `event_id` of the event behind it, which several deliveries share. `outcome` is
    a word on what came of it, once `processed_at` is set.
    """

    __tablename__ = "store_deliveries"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), index=True)
    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"))
    delivery_id: Mapped[str] = mapped_column(sa.String(200))
    event_id: Mapped[str | None] = mapped_column(sa.String(200))
    topic: Mapped[str] = mapped_column(sa.String(80))
    occurred_at: Mapped[datetime]
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    received_at: Mapped[datetime] = mapped_column(default=now)
    processed_at: Mapped[datetime | None] = mapped_column(index=True)
    outcome: Mapped[str | None] = mapped_column(sa.String(32))

    __table_args__ = (sa.UniqueConstraint("connection_id", "delivery_id"),)

    @property
    def deletion_key(self) -> str:
        """The key of the record that lands when this tells of a deleted product or order."""
        return f"deleted:{self.id}"


class StorePurge(Base):
    """The removal of everything that was copied from one connected store.

    `files_removed_at` is set once no file of the lake holds what the connection brought; the next publication, which
    is built without it, completes the removal.
    """

    __tablename__ = "store_purges"

    connection_id: Mapped[str] = mapped_column(sa.ForeignKey("connections.id"), primary_key=True)
    requested_at: Mapped[datetime] = mapped_column(default=now)
    files_removed_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
