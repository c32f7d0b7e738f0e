"""What people enter about payments: refunds, and who paid."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, new_id, now


class ManualRefund(Base):
    """One refund entered by hand; a payment has at most one that is not withdrawn. `amount` in `currency`."""

    __tablename__ = "manual_refunds"

    id: Mapped[str] = mapped_column(sa.String(36), primary_key=True, default=new_id)
    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"))
    payment_ref: Mapped[str] = mapped_column(sa.String(240))
    amount: Mapped[Decimal] = mapped_column(sa.Numeric(18, 4))
    currency: Mapped[str] = mapped_column(sa.String(3))
    refunded_at: Mapped[datetime]
    note: Mapped[str | None] = mapped_column(sa.String(500))
    created_at: Mapped[datetime] = mapped_column(default=now)
    withdrawn_at: Mapped[datetime | None]

    __table_args__ = (
        sa.Index(
            "uq_manual_refunds_standing",
            "profile_id",
            "payment_ref",
            unique=True,
            sqlite_where=sa.text("withdrawn_at is null"),
            postgresql_where=sa.text("withdrawn_at is null"),
        ),
    )


class PaymentPayer(Base):
    """Who paid, as somebody said: `identifier_id` of one identifier of the person (api.warehouse_ids), no identity."""

    __tablename__ = "payment_payers"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    payment_ref: Mapped[str] = mapped_column(sa.String(240), primary_key=True)
    identifier_id: Mapped[str] = mapped_column(sa.String(36))
    assigned_at: Mapped[datetime] = mapped_column(default=now)
