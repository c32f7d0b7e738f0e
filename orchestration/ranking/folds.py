"""Blocks of a later time, each with the training rows whose labels were settled before it began (purged folds)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestration.ranking.arrays import Bools, Ints
from orchestration.ranking.history import HORIZON, WEEK

BLOCKS = 4
WEEKS_IN_BLOCK = 3


@dataclass(frozen=True)
class Fold:
    """Rows to fit on and rows to judge by; `start` is the first day judged."""

    start: int
    train: Bools
    test: Bools


def folds(day: Ints, usable: Bools, newest: int, *, horizon: int = HORIZON) -> Iterator[Fold]:
    """The last four blocks of three weekly snapshots whose `horizon` days are over, the oldest block first.

    `day` is the day of each row, `newest` the last day known. A row trains only if `day + horizon <= start`: else its
    label would be made of days that the block is judged on.
    """
    settled = -(-horizon // WEEK)
    for block in reversed(range(BLOCKS)):
        first = settled + block * WEEKS_IN_BLOCK
        week = (newest - day) // WEEK
        test = usable & (week >= first) & (week < first + WEEKS_IN_BLOCK)
        if not test.any():
            continue
        start = int(day[test].min())
        yield Fold(start, usable & (day + horizon <= start), test)
