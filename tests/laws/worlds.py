"""Worlds that hypothesis draws: a few people, their touches and outcomes, crowded in time so that ties are common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

HOUR, DAY = 3_600, 86_400
ADS = {"a1": ("s1", "c1"), "a2": ("s1", "c1"), "a3": ("s2", "c1"), "a4": ("s3", "c2"), "a9": ("s9", "c9")}
# what a touch may name; a9 is kept for touches that a variant adds
PLACES = ("ad:a1", "ad:a2", "ad:a3", "ad:a4", "ad_set:s1", "campaign:c2", "ad:unsynced", "direct", "organic", "paid")
PLAIN = ("lead_created", "appointment_booked", "closed_won")
PAYMENT = "payment_received"


@dataclass(frozen=True)
class Touch:
    """A touch of person number `person`, `at` whole seconds after the start of the world."""

    key: str
    person: int
    at: int
    place: str


@dataclass(frozen=True)
class Outcome:
    """An outcome worth `cents` of its currency (None: no value told); `refunded` cents of a payment went back.

    `renews` names the payment whose subscription an automatic charge continues.
    """

    key: str
    person: int | None
    at: int
    type: str
    cents: int | None
    currency: str = "USD"
    refunded: int = 0
    renews: str | None = None


@dataclass(frozen=True)
class World:
    """One profile's settings and records. `prefix` stands before every id; `copies` is how often each row comes."""

    touches: Sequence[Touch]
    outcomes: Sequence[Outcome]
    time_zone: str = "UTC"
    lookback_days: int = 90
    half_life_days: int = 7
    prefix: str = ""
    copies: int = 1
    claims: int = 0
    shuffle: int | None = None
    notes: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> int:
        return len(self.touches) + len(self.outcomes)


def _times() -> st.SearchStrategy[int]:
    """Seconds of 30 days; many are equal, or on either side of a limit of half an hour or of a whole day."""
    near = st.sampled_from((0, 0, 0, 1, 1_799, 1_800, HOUR))
    return st.builds(lambda day, step: day * DAY + 100 * DAY + step, st.integers(0, 30), near)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A world of up to four people."""
    people = st.integers(0, draw(st.integers(0, 3)))
    told = draw(st.lists(st.tuples(people, _times(), st.sampled_from(PLACES)), min_size=2, max_size=30, unique=True))
    # keys do not follow time, and are not of one length
    marks = draw(st.lists(st.sampled_from("aZ9b"), min_size=len(told), max_size=len(told)))
    touches = [Touch(f"{mark}{n}", *row) for n, (mark, row) in enumerate(zip(marks, told, strict=True))]
    cents = st.one_of(st.integers(0, 5), st.integers(0, 99_999), st.sampled_from((1, 100, 10_000)))
    payments = draw(
        st.lists(
            st.tuples(people | st.none(), _times(), cents, st.sampled_from(("USD", "USD", "EUR"))),
            min_size=1,
            max_size=8,
        )
    )
    others = draw(st.lists(st.tuples(people, _times(), st.sampled_from(PLAIN), st.none() | cents), max_size=6))
    outcomes = [Outcome(f"p{n}", who, at, PAYMENT, worth, code) for n, (who, at, worth, code) in enumerate(payments)]
    outcomes += [Outcome(f"o{n}", *row) for n, row in enumerate(others)]
    return World(
        touches,
        outcomes,
        time_zone=draw(st.sampled_from(("UTC", "Asia/Kolkata", "America/New_York"))),
        lookback_days=draw(st.sampled_from((1, 5, 12, 90))),
        half_life_days=draw(st.sampled_from((1, 7, 90))),
    )


def drawn(count: int, *, start: int) -> list[World]:
    """`count` worlds, the same for the same start; nothing is judged yet, since one build judges them all."""
    found: list[World] = []

    @seed(start)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(worlds())
    def keep(world: World) -> None:
        found.append(world)

    keep()
    return found
