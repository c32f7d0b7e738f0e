"""What the platforms that the demo does not connect have, made from the world that is shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Generic, TypeVar

from sandbox.ad_catalogue import AdTree
from sandbox.ads import Delivery
from sandbox.world import World

Made = TypeVar("Made")


class Derived(Generic[Made]):
    """What `build` makes of the world that is shown now, made when it is first asked for."""

    def __init__(self, build: Callable[[World], Made]) -> None:
        self._build = build
        self._made: tuple[AdTree, Made] | None = None

    def of(self, world: World) -> Made:
        """The same for the same world, as of whichever day it is seen."""
        if self._made is None or self._made[0] is not world.tree:
            self._made = (world.tree, self._build(world))
        return self._made[1]


def seen(deliveries: Sequence[Delivery], account_id: str, since: date, until: date, as_of: date) -> Iterator[Delivery]:
    """An account's ad-days of the closed range, of all by day, as its platform shows them on `as_of`."""
    low = bisect_left(deliveries, since, key=lambda row: row.day)
    high = bisect_right(deliveries, until, key=lambda row: row.day)
    for row in deliveries[low:high]:
        shown = row.seen_at(as_of) if row.account_id == account_id else None
        if shown is not None:
            yield shown
