"""Leaderboards frozen for others to see, each behind a link that ends."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class SharedSnapshot(Base):
    """One frozen leaderboard and the link that opens it, as its digest.

    `rows` are those of W/top-performers at the moment of capture, in `currency`; with `hide_money` without any figure
    of money. It is active until `revoked_at` or `expires_at`, whichever comes first.
    """

    __tablename__ = "shared_snapshots"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    workspace_id: Mapped[str] = mapped_column(sa.ForeignKey("workspaces.id"), index=True)
    title: Mapped[str | None] = mapped_column(sa.String(120))
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    token_prefix: Mapped[str] = mapped_column(sa.String(24))
    score_window: Mapped[str] = mapped_column(sa.String(8))
    row_limit: Mapped[int]
    filters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    hide_money: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    currency: Mapped[str] = mapped_column(sa.String(3))
    score_date: Mapped[date]
    config_version: Mapped[int]
    data_snapshot_id: Mapped[str] = mapped_column(sa.String(36))
    rows: Mapped[list[Any]] = mapped_column(default=list)
    row_count: Mapped[int]
    created_by_kind: Mapped[str] = mapped_column(sa.String(16))
    created_by_id: Mapped[str] = mapped_column(sa.String(36))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    view_count: Mapped[int] = mapped_column(default=0)
    last_viewed_at: Mapped[datetime | None]

    def __repr__(self) -> str:
        return f"<SharedSnapshot {self.id} {self.token_prefix}>"


class SharedSnapshotProfile(Base):
    """A profile that a frozen leaderboard ranks, whether or not one of its ads is among the rows."""

    __tablename__ = "shared_snapshot_profiles"

    shared_snapshot_id: Mapped[str] = mapped_column(sa.ForeignKey("shared_snapshots.id"), primary_key=True)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True, index=True)
