"""No row trains whose label is made of days that are judged, and no row is judged before its label is settled."""

from __future__ import annotations

import numpy as np

from orchestration.ranking.folds import BLOCKS, folds
from orchestration.ranking.history import HORIZON

DAYS = np.repeat(np.arange(7, 7 * 31, 7), 5)
ALL = np.ones(len(DAYS), dtype=bool)


def test_labels_of_training_rows_end_before_the_block_begins() -> None:
    found = list(folds(DAYS, ALL, int(DAYS.max())))
    assert len(found) == BLOCKS
    for fold in found:
        assert DAYS[fold.train].max() + HORIZON <= DAYS[fold.test].min() == fold.start
        assert len(np.unique(DAYS[fold.test])) == 3
        # the newest that may train does
        assert DAYS[fold.train].max() + HORIZON + 7 > fold.start


def test_judged_rows_are_settled_and_no_snapshot_is_judged_twice() -> None:
    found = list(folds(DAYS, ALL, int(DAYS.max())))
    judged = np.stack([fold.test for fold in found])
    assert judged.sum(axis=0).max() == 1
    assert DAYS[judged.any(axis=0)].max() + HORIZON == DAYS.max()
    assert [fold.start for fold in found] == sorted(fold.start for fold in found)
