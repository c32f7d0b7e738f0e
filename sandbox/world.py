"""The seeded world: one shop's ads, people and money, from which every platform's view is derived."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random

from sandbox.ad_catalogue import PLANS, AdTree, Plan, build_ads
from sandbox.ad_delivery import build_delivery, deduplicated_reach
from sandbox.ads import Ad, AdAccount, AdSet, Campaign, Creative, Delivery
from sandbox.exchange import build_rates
from sandbox.journeys import Journeys, build_journeys
from sandbox.money import Order, Payment, Product, Rate, Subscription
from sandbox.people import Link, Outcome, Person, Touch
from sandbox.studies import Study, build_studies


@dataclass(frozen=True, slots=True)
class World:
    """Everything that happened between `first_day` and `today`, final and true.

    `as_of` is the day on which platforms are asked: deliveries of later days are not there yet, and those of
    the 28 days before it are still to be revised. Nothing else depends on it. Same arguments, same world.
    """

    seed: int
    today: date
    first_day: date
    as_of: date
    tree: AdTree
    deliveries: tuple[Delivery, ...]
    rates: tuple[Rate, ...]
    journeys: Journeys
    studies: tuple[Study, ...] = ()

    @property
    def accounts(self) -> tuple[AdAccount, ...]:
        return self.tree.accounts

    @property
    def campaigns(self) -> tuple[Campaign, ...]:
        return self.tree.campaigns

    @property
    def ad_sets(self) -> tuple[AdSet, ...]:
        return self.tree.ad_sets

    @property
    def ads(self) -> tuple[Ad, ...]:
        return self.tree.ads

    @property
    def creatives(self) -> tuple[Creative, ...]:
        return self.tree.creatives

    @property
    def people(self) -> tuple[Person, ...]:
        return self.journeys.people

    @property
    def touches(self) -> tuple[Touch, ...]:
        return self.journeys.touches

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return self.journeys.outcomes

    @property
    def links(self) -> tuple[Link, ...]:
        return self.journeys.links

    @property
    def payments(self) -> tuple[Payment, ...]:
        return self.journeys.payments

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        return self.journeys.subscriptions

    @property
    def orders(self) -> tuple[Order, ...]:
        return self.journeys.orders

    @property
    def products(self) -> tuple[Product, ...]:
        return self.journeys.products

    def delivery_seen(self, account_id: str | None, date_from: date, date_to: date) -> Iterator[Delivery]:
        """Ad-days of the closed range as the platform shows them at `as_of`, by day, then ad id.

        `account_id` None means both accounts.
        """
        low = bisect_left(self.deliveries, date_from, key=lambda row: row.day)
        high = bisect_right(self.deliveries, date_to, key=lambda row: row.day)
        for row in self.deliveries[low:high]:
            seen = row.seen_at(self.as_of) if account_id in (None, row.account_id) else None
            if seen is not None:
                yield seen

    def reach(self, level: str, entity_id: str, date_from: date, date_to: date) -> int:
        """People reached at least once in the closed range; level is account, campaign, ad_set or ad."""
        days: dict[date, list[int]] = {}
        for row in self.delivery_seen(None, date_from, date_to):
            if getattr(row, f"{level}_id") == entity_id:
                days.setdefault(row.day, []).append(row.reach)
        return deduplicated_reach(list(days.values()))


class WorldHolder:
    """The world that the sandbox's faces answer from; its `as_of` can be moved while they run."""

    def __init__(self, world: World) -> None:
        self.world = world

    def see_as_of(self, day: date) -> None:
        """Let the platforms answer as on `day`."""
        self.world = replace(self.world, as_of=day)


def build(seed: int, today: date, days: int, people: int, plans: Sequence[Plan] = PLANS) -> World:
    """The world of `people` people over the `days` days that end with `today`, from the seed and the plans alone."""
    tree = build_ads(Random(f"{seed}:ads"), today, days, plans)  # noqa: S311 - a repeatable world, no secret
    deliveries = build_delivery(Random(f"{seed}:delivery"), tree, today, days, people)  # noqa: S311
    rates = build_rates(Random(f"{seed}:rates"), today, days)  # noqa: S311
    first_day = today - timedelta(days=days - 1)
    journeys, claimed = build_journeys(Random(f"{seed}:journeys"), tree, deliveries, rates, today, days, people)  # noqa: S311
    studies = build_studies(Random(f"{seed}:studies"), tree, today, people)  # noqa: S311
    return World(seed, today, first_day, today, tree, tuple(claimed), tuple(rates), journeys, studies)
