"""The records that journeys leave, collected while they are invented."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from sandbox.crowd import token
from sandbox.exchange import Exchange
from sandbox.money import Order, Payment, Product, Subscription
from sandbox.people import Known, Link, Outcome, Touch

FIRST_ORDER_ID = 5_610_000_000_000
FIRST_ORDER_NUMBER = 1001


Mark = tuple[int, int, int, int]


@dataclass(slots=True)
class Diary:
    """What has been recorded so far. Nothing happens after second `end`, the world's present."""

    random: Random
    exchange: Exchange
    products: tuple[Product, ...]
    end: int
    touches: list[Touch] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)

    def touch(self, touch: Touch) -> None:
        if touch.at <= self.end:
            self.touches.append(touch)

    def outcome(self, outcome: Outcome) -> bool:
        """Record an outcome, and the touch it carries; False when it lies in the future."""
        if outcome.at > self.end:
            return False
        self.outcomes.append(outcome)
        if outcome.carries is not None:
            at = outcome.carries.at if outcome.names_click_time else outcome.at
            self.touches.append(replace(outcome.carries, key=f"record:{outcome.key}", at=at))
        return True

    def mark(self) -> Mark:
        """How much is recorded by now; `since` gives what came after."""
        return len(self.touches), len(self.outcomes), len(self.payments), len(self.orders)

    def since(self, mark: Mark) -> list[tuple[Known, int, bool]]:
        """What later records know of their person, when, and whether they are outcomes; failed attempts left out."""
        touches, outcomes, payments, orders = mark
        paid = [row for row in self.payments[payments:] if row.status == "captured"]
        return [
            *((row.known, row.at, False) for row in self.touches[touches:]),
            *((row.known, row.at, True) for row in self.outcomes[outcomes:]),
            *((row.known, row.at, True) for row in paid),
            *((row.known, row.created_at, True) for row in self.orders[orders:]),
        ]

    def outcome_key(self) -> str:
        return f"c_{token(self.random, 20)}"

    def numbered_orders(self) -> tuple[Order, ...]:
        """The orders in order of time, with the ids and names a store gives them one after another."""
        ordered = sorted(self.orders, key=lambda order: (order.created_at, order.intent_id or "", order.id))
        return tuple(
            replace(order, id=FIRST_ORDER_ID + 32 * index, name=f"#{FIRST_ORDER_NUMBER + index}",
                    lines=tuple(replace(line, id=(FIRST_ORDER_ID + 32 * index) * 2 + line.id) for line in order.lines))
            for index, order in enumerate(ordered)
        )  # fmt: skip
