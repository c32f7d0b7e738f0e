"""Everything people did: touches, outcomes, orders and payments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from random import Random

from sandbox.ad_catalogue import AdTree
from sandbox.ads import Delivery
from sandbox.arrivals import AdPicker
from sandbox.checkout import DAY, pay, subscribe
from sandbox.claims import claim
from sandbox.clock import epoch
from sandbox.crowd import build_person
from sandbox.diary import Diary
from sandbox.exchange import Exchange
from sandbox.money import Order, Payment, Product, Rate, Subscription
from sandbox.people import Known, Link, Outcome, Person, Touch
from sandbox.shelf import build_products
from sandbox.stories import WARM_BUYERS, Story, chat, enquire, shop


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
    """The people's records, and the deliveries with the platform's claims on those people's sales.

    Journeys end at noon UTC of `today`.
    """
    exchange = Exchange(rates)
    diary = Diary(random, exchange, build_products(today, days), epoch(today) + DAY // 2)
    picker = AdPicker(tree, deliveries)
    warmth = {row.id: row.audience_warmth for row in tree.ad_sets}
    appeal = {ad.id: ad.quality * WARM_BUYERS[warmth[ad.ad_set_id]] for ad in tree.ads}
    crowd = [build_person(random, index) for index in range(people)]
    start = epoch(today) - (days - 1) * DAY
    for person in crowd:
        _live(Story(diary, picker, person, appeal), start)
    _strangers(diary, start, people)
    claimed = claim(random, deliveries, tree.accounts, diary.touches, diary.payments, diary.outcomes, exchange)
    return _journeys(diary, crowd), claimed


def _live(story: Story, start: int) -> None:
    random, person, begun = story.random, story.person, story.diary.mark()
    at = random.randrange(start, story.diary.end - 3_600)
    if person.index % 200 == 17 and person.currency == "USD":
        subscribe(story.diary, person, start - 45 * DAY + at % DAY, None)
    random.choices((shop, enquire, chat), (56, 24, 20))[0](story, at)
    story.close(begun)


def _strangers(diary: Diary, start: int, people: int) -> None:
    """Payments that carry no identifier at all, so that nobody can know whose they are."""
    for _ in range(people // 250):
        at = diary.random.randrange(start, diary.end)
        pay(diary, None, at, diary.random.choice((1_900, 4_900)), "USD", Known(), "Donation at the till")


def _journeys(diary: Diary, crowd: list[Person]) -> Journeys:
    return Journeys(
        people=tuple(crowd),
        touches=tuple(sorted(diary.touches, key=lambda row: (row.at, row.key))),
        outcomes=tuple(sorted(diary.outcomes, key=lambda row: (row.at, row.key))),
        links=tuple(diary.links),
        payments=tuple(sorted(diary.payments, key=lambda row: (row.at, row.intent_id))),
        subscriptions=tuple(sorted(diary.subscriptions, key=lambda row: (row.created_at, row.id))),
        orders=diary.numbered_orders(),
        products=diary.products,
    )
