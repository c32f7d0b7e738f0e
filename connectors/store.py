"""What any store must offer, whatever its wire protocol looks like."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

Row = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """Some rows of a list that is walked by somebody else: `following` is the cursor behind them, None at the end."""

    rows: list[Row]
    following: str | None


class Store(Protocol):
    """One store. Rows carry the columns of the inbound contracts; every method may raise a ConnectorError."""

    connection_ref: str

    def catalogue(self, updated_since: datetime | None = None) -> dict[str, list[Row]]:
        """products and variants changed since then; everything when None."""

    def orders(self, updated_since: datetime | None = None) -> dict[str, list[Row]]:
        """orders and order_lines changed since then; an order always comes with all its lines."""

    def products_page(self, *, since: datetime | None, after: str | None, most: int) -> Page:
        """Up to `most` products as they are now, oldest change first, each with its `variants`."""

    def orders_page(self, *, since: datetime | None, after: str | None, most: int) -> Page:
        """Up to `most` orders as they are now, oldest change first.

        Beside the columns of the contract each has its `lines` with their `discount`, all its `attributes`, and in
        `status_updated_at` when its payment, its shipment or its cancellation last moved.
        """
