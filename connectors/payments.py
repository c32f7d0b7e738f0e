"""What any payment processor must offer, whatever its wire protocol looks like."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

Row = dict[str, Any]


class Payments(Protocol):
    """One processor account. Rows carry the columns of the inbound contracts; may raise a ConnectorError."""

    def payments(self, created_since: datetime | None = None) -> list[Row]:
        """conversions: payments and refunds made since then."""

    def renewals(self) -> list[Row]:
        """recurring_payments, always all."""

    def disputes(self) -> list[Row]:
        """conversions of all payments that a payer's bank took back, as refunds; withdrawn where it did not."""
