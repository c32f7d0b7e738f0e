"""A world told another way, or with something that must not matter, or with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tests.laws.worlds import DAY, HOUR, PAYMENT, Outcome, Touch, World

WEEKS = 21 * DAY
K = 7
FOREVER = 5_000
STRANGER = 99
EXTRA = ("ad:a9", "direct")


def shifted(world: World) -> World:
    """Everything three weeks later."""
    return _moved(world, lambda at: at + WEEKS)


def renamed(world: World) -> World:
    """Every id another one, in the same byte order."""
    return replace(world, prefix="other-")


def shuffled(world: World) -> World:
    return replace(world, shuffle=1)


def repeated(world: World) -> World:
    """Every record three times, in any order."""
    return replace(world, copies=3, shuffle=2)


def crowded(world: World) -> World:
    """Touches that must not matter: after everything, before every window, and of somebody else."""
    ends = [outcome.at for outcome in world.outcomes] or [100 * DAY]
    early, late = min(ends) - world.lookback_days * DAY - 1, max(ends) + 1
    people = sorted({touch.person for touch in world.touches} | _people(world))
    where = [(person, at) for person in people for at in (early, late)] + [(STRANGER, at) for at in ends]
    extra = [Touch(f"m{n}{place[:2]}", *row, place) for n, row in enumerate(where) for place in EXTRA]
    return replace(world, touches=[*world.touches, *extra])


def wider(world: World) -> World:
    """A look-back of a year."""
    return replace(world, lookback_days=365)


def undecaying(world: World) -> World:
    """A half-life so long that age is nothing."""
    return replace(world, half_life_days=10**9)


def sudden(world: World) -> World:
    """Any two moments 60 half-lives apart, so that all but the newest weighs nothing."""
    moments = sorted({row.at for row in (*world.touches, *world.outcomes)})
    return replace(
        _moved(world, lambda at: moments.index(at) * 20 * DAY), lookback_days=FOREVER, half_life_days=1, time_zone="UTC"
    )


def lined_up(world: World) -> World:
    """No two touches at once, none within a visit of another, every outcome after all of them."""
    ranked = sorted(world.touches, key=lambda touch: (touch.at, touch.key))
    touches = [replace(touch, at=n * HOUR) for n, touch in enumerate(ranked)]
    outcomes = [replace(outcome, at=30 * DAY) for outcome in world.outcomes]
    return replace(world, touches=touches, outcomes=outcomes, lookback_days=90)


def backwards(world: World) -> World:
    """`lined_up`, with the touches in the opposite order."""
    straight = lined_up(world)
    last = max((touch.at for touch in straight.touches), default=0)
    return replace(straight, touches=[replace(touch, at=last - touch.at) for touch in straight.touches])


def scaled(world: World) -> World:
    """Every amount K times as large."""
    return _priced(world, lambda row: replace(row, cents=None if row.cents is None else row.cents * K))


def half_refunded(world: World) -> World:
    """A third of every payment went back, rounded up."""
    return _priced(world, lambda row: replace(row, refunded=-(-(row.cents or 0) // 3)) if row.type == PAYMENT else row)


def wholly_refunded(world: World) -> World:
    return _priced(world, lambda row: replace(row, refunded=row.cents or 0) if row.type == PAYMENT else row)


def renewed(world: World) -> World:
    """Every payment renewed 40 days later, with a click between."""
    paid = [row for row in world.outcomes if row.type == PAYMENT]
    again = [replace(row, key=f"{row.key}r", at=row.at + 40 * DAY, renews=row.key) for row in paid]
    last = max((row.at for row in world.outcomes), default=0)
    clicks = [Touch(f"r{person}", person, last + 1, "ad:a9") for person in sorted(_people(world))]
    return replace(world, touches=[*world.touches, *clicks], outcomes=[*world.outcomes, *again])


def even(world: World) -> World:
    """Every second outcome."""
    return replace(world, outcomes=world.outcomes[::2])


def odd(world: World) -> World:
    return replace(world, outcomes=world.outcomes[1::2])


def claimed(world: World) -> World:
    """The platform claims conversions of its own."""
    return replace(world, claims=3)


VARIANTS: tuple[Callable[[World], World], ...] = (
    shifted, renamed, shuffled, repeated, crowded, wider, undecaying, sudden, lined_up, backwards, scaled,
    half_refunded, wholly_refunded, renewed, even, odd, claimed,
)  # fmt: skip


def _people(world: World) -> set[int]:
    return {row.person for row in world.outcomes if row.person is not None}


def _moved(world: World, to: Callable[[int], int]) -> World:
    touches = [replace(touch, at=to(touch.at)) for touch in world.touches]
    return replace(world, touches=touches, outcomes=[replace(row, at=to(row.at)) for row in world.outcomes])


def _priced(world: World, change: Callable[[Outcome], Outcome]) -> World:
    priced: Iterable[Outcome] = map(change, world.outcomes)
    return replace(world, outcomes=list(priced))
