"""What any store must offer, whatever its wire protocol looks like."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

Row = dict[str, Any]


class Store(Protocol):
    """One store. Rows carry the columns of the inbound contracts; every method may raise a ConnectorError."""

    connection_ref: str

    def catalogue(self, updated_since: datetime | None = None) -> dict[str, list[Row]]:
        """products and variants changed since then; everything when None."""

    def orders(self, updated_since: datetime | None = None) -> dict[str, list[Row]]:
        """orders and order_lines changed since then; an order always comes with all its lines."""
