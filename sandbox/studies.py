"""The studies that the world's ad accounts run: who was held back or split, and how many converted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from random import Random

from sandbox.ad_catalogue import AdTree
from sandbox.ads import AdSet, Campaign

BASE_RATE = 0.012
# of those who would see the ads, how many were held back
HELD_BACK = 0.3


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; `campaigns` and `ad_sets` are the ids of what it holds, one of them empty."""

    id: str
    name: str
    campaigns: tuple[str, ...]
    ad_sets: tuple[str, ...]
    treatment_percentage: int
    control_percentage: int | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What a lift study's platform counted; `buyers` are people, `conversions` all they did."""

    test: int
    control: int
    buyers_test: int
    buyers_control: int
    conversions_test: int
    conversions_control: int


@dataclass(frozen=True, slots=True)
class Study:
    """One study of one account, LIFT or SPLIT_TEST; `true_lift` is latent, and no platform reports it."""

    id: str
    account_id: str
    name: str
    type: str
    first_day: date
    last_day: date
    canceled_on: date | None
    cells: tuple[Cell, ...]
    objective_id: str
    true_lift: float | None = None
    measured: Measured | None = None


def build_studies(random: Random, tree: AdTree, today: date, people: int) -> tuple[Study, ...]:
    """A finished lift study, one that found nothing, a finished and a running split, one to come, one called off."""
    worked, retargeted, other = tree.campaigns[0], tree.campaigns[1], tree.campaigns[7]
    sets = {row.id: [one for one in tree.ad_sets if one.campaign_id == row.id] for row in tree.campaigns}

    def ago(days: int) -> date:
        return today - timedelta(days=days)

    quality = [ad.quality for ad in tree.ads if ad.campaign_id == worked.id]
    lift = 0.4 * sum(quality) / len(quality)
    return (
        _lift(random, 1, worked, "Prospecting holdout", ago(60), ago(30), lift, people * 40),
        _lift(random, 2, retargeted, "Retargeting holdout", ago(50), ago(29), 0.02, people * 4),
        _split(3, worked, "Broad or lookalike", ago(45), ago(15), sets[worked.id]),
        _split(4, other, "Interests or similar buyers", ago(10), ago(-11), sets[other.id]),
        _lift(random, 5, other, "Spain holdout, winter", ago(-14), ago(-42), None, 0),
        _split(6, retargeted, "Viewed or basket", ago(40), ago(20), sets[retargeted.id], canceled_on=ago(36)),
    )


def _id(kind: int, number: int, part: int = 0) -> str:
    return f"{120260000000000000 + kind * 1_000_000 + number * 100 + part}"


def _lift(
    random: Random, number: int, of: Campaign, name: str, first: date, last: date, lift: float | None, people: int
) -> Study:
    held = round(100 * HELD_BACK)
    cell = Cell(_id(1, number), name, (of.id,), (), 100 - held, held)
    found = _measure(random, lift, people) if lift is not None else None
    return Study(_id(0, number), of.account_id, name, "LIFT", first, last, None, (cell,), _id(2, number), lift, found)


def _split(
    number: int, of: Campaign, name: str, first: date, last: date, sets: list[AdSet], canceled_on: date | None = None
) -> Study:
    share = 100 // len(sets)
    cells = tuple(Cell(_id(1, number, at), one.name, (), (one.id,), share, None) for at, one in enumerate(sets))
    return Study(_id(0, number), of.account_id, name, "SPLIT_TEST", first, last, canceled_on, cells, _id(2, number))


def _measure(random: Random, lift: float, people: int) -> Measured:
    control = round(people * HELD_BACK)
    test = people - control
    buyers = _drawn(random, test, BASE_RATE * (1 + lift)), _drawn(random, control, BASE_RATE)
    again = [round(one * random.uniform(1.1, 1.3)) for one in buyers]
    return Measured(test, control, *buyers, *again)


def _drawn(random: Random, people: int, rate: float) -> int:
    """How many of so many converted: a binomial draw by its normal form, close enough for thousands of people."""
    return max(1, round(random.gauss(people * rate, sqrt(people * rate * (1 - rate)))))
