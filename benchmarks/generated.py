"""Generated journeys as arrays, a bounded number of people at a time; equal worlds are equal numbers.

Skewed data has Pareto path lengths, as ad traffic has them: one touch a person in the median, a long tail, a cap.
Light data is the same with nobody above 30 touches. A few ads hold most of the touches and, with several profiles, the
first ones hold most of them (Zipf); conversions are of seven types, and one in seven is a payment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

BEGIN = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
DAYS = 300
ADS = 400
ADS_PER_SET, SETS_PER_CAMPAIGN = 5, 4
PARETO_SHAPE = 0.9
LONGEST = {"skewed": 800, "light": 30}
CONVERSIONS_PER_TOUCH, REFUNDED = 0.05, 0.04
AD_SHARE, DIRECT_SHARE = 0.55, 0.22
TYPES = (
    "payment_received", "lead_created", "dm_started", "appointment_booked", "appointment_attended", "quote_presented",
    "closed_won",
)  # fmt: skip
CHUNK_TOUCHES = 1_000_000

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True)
class World:
    """What tells one set of journeys from another; `touches` is reached by the last person, so it may be passed."""

    touches: int
    seed: int = 7
    kind: str = "skewed"
    profiles: int = 1


@dataclass(frozen=True)
class Touches:
    """Columns of touches; `number` and `person` are unique in the world, `ad` is -1 where there is none."""

    number: Numbers
    profile: Numbers
    person: Numbers
    ts: Numbers
    ad: Numbers
    is_direct: Numbers


@dataclass(frozen=True)
class Conversions:
    """Columns of conversions; `cents` is 0 where nothing was paid, `refund` 0 where nothing was paid back."""

    number: Numbers
    profile: Numbers
    person: Numbers
    ts: Numbers
    kind: Numbers
    cents: Numbers
    refund: Numbers


def chunks(world: World, chunk_touches: int = CHUNK_TOUCHES) -> Iterator[tuple[Touches, Conversions]]:
    """The world in chunks of whole people, in the order of people."""
    ends = np.cumsum(zipf(world.profiles)) * world.touches
    popularity = np.cumsum(zipf(ADS))[:-1]
    touch = person = conversion = 0
    for numbers, lengths in _people(world, chunk_touches):
        count = int(lengths.sum())
        firsts = touch + np.cumsum(lengths) - lengths
        profile_of_person = np.minimum(np.searchsorted(ends, firsts, side="right"), world.profiles - 1)
        profile = np.repeat(profile_of_person, lengths)
        people = person + np.repeat(np.arange(len(lengths)), lengths)
        times = BEGIN + numbers.integers(0, DAYS * 86_400, count)
        way = numbers.random(count)
        ad = np.where(way < AD_SHARE, np.searchsorted(popularity, numbers.random(count)), -1)
        touches = Touches(touch + np.arange(count), profile, people, times, ad, way > 1 - DIRECT_SHARE)
        conversions = _conversions(numbers, touches, conversion)
        yield touches, conversions
        touch, person = touch + count, person + len(lengths)
        conversion += len(conversions.number)


def people(world: World, chunk_touches: int = CHUNK_TOUCHES) -> int:
    """How many people the chunks of a world hold."""
    return sum(len(lengths) for _, lengths in _people(world, chunk_touches))


def _people(world: World, chunk_touches: int) -> Iterator[tuple[np.random.Generator, Numbers]]:
    """Per chunk the numbers that all of it is drawn from, and the touches of each of its people."""
    touch = turn = 0
    while touch < world.touches:
        numbers = np.random.default_rng([world.seed, turn])
        lengths = path_lengths(numbers, min(chunk_touches, world.touches - touch), LONGEST[world.kind])
        yield numbers, lengths
        touch, turn = touch + int(lengths.sum()), turn + 1


def path_lengths(numbers: np.random.Generator, touches: int, longest: int = LONGEST["skewed"]) -> Numbers:
    """Touches per person, adding up to `touches` or, by the last person, a little more."""
    lengths = np.minimum(numbers.pareto(PARETO_SHAPE, touches) + 1, longest).astype(np.int64)
    return lengths[: int(np.searchsorted(np.cumsum(lengths), touches)) + 1]


def zipf(count: int) -> Numbers:
    """Shares that add up to one, the n-th in proportion to 1 / n."""
    weights = 1 / np.arange(1, count + 1)
    return weights / weights.sum()


def _conversions(numbers: np.random.Generator, touches: Touches, first: int) -> Conversions:
    converting = np.flatnonzero(numbers.random(len(touches.number)) < CONVERSIONS_PER_TOUCH)
    count = len(converting)
    kind = numbers.integers(0, len(TYPES), count)
    is_paid = kind == 0
    cents = np.where(is_paid, numbers.integers(500, 50_000, count), 0)
    is_refunded = is_paid & (numbers.random(count) < REFUNDED)
    return Conversions(
        number=first + np.arange(count),
        profile=touches.profile[converting],
        person=touches.person[converting],
        ts=touches.ts[converting] + numbers.integers(0, 5 * 86_400, count),
        kind=kind,
        cents=cents,
        refund=np.where(is_refunded, np.maximum(cents // numbers.integers(1, 4, count), 1), 0),
    )
