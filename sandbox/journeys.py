"""Everything people did: touches, outcomes, orders and payments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from random import Random

from sandbox.ad_catalogue import AdTree
from sandbox.ads import Delivery
from sandbox.money import Order, Payment, Product, Rate, Subscription
from sandbox.people import Link, Outcome, Person, Touch


@dataclass(frozen=True, slots=True)
class Journeys:
    """All people's records, each sequence in order of time and key."""

    people: tuple[Person, ...]
    touches: tuple[Touch, ...]
    outcomes: tuple[Outcome, ...]
    links: tuple[Link, ...]
    payments: tuple[Payment, ...]
    subscriptions: tuple[Subscription, ...]
    orders: tuple[Order, ...]
    products: tuple[Product, ...]


def build_journeys(
    random: Random,
    tree: AdTree,
    deliveries: Sequence[Delivery],
    rates: Sequence[Rate],
    today: date,
    days: int,
    people: int,
) -> tuple[Journeys, list[Delivery]]:
    """The people's records, and the deliveries with the platform's claims on those people's sales."""
    return Journeys((), (), (), (), (), (), (), ()), list(deliveries)
