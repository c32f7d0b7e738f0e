"""Weekly snapshots of ads: what was known of each on its day, and what came of it in the four weeks after."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from orchestration.ranking.arrays import Bools, Floats, Ints, ranks, sizes

# a label is the primary layer's percentile over this many days after the snapshot
HORIZON = 28
WEEK = 7
# fewer ads than this have no order worth learning
SMALLEST_GROUP = 4
# group ranks at which an ad becomes relevant 1, 2 and 3; what LambdaMART and DCG pay for each
RELEVANT = (0.50, 0.75, 0.90)
GAINS = (0.0, 1.0, 3.0, 7.0)
# the best quarter is what the likelihood is of
TOP = 0.75
# a label that nearly no data stands behind still counts a little
LEAST_WEIGHT = 0.05


@dataclass(frozen=True, kw_only=True)
class History:
    """One row per ad and snapshot, all arrays of one length.

    `day` is the last day known (days since 1970), `root` a dense code of profile, channel and objective, `ad` a dense
    code of the ad; `features` has a column per name of `names`, NaN where a layer does not exist. `primary` and
    `reliability` are of the primary layer over the 28 days up to `day` (NaN where the root has none), `exposure` is the
    spend of these days, `composite` the rule-based score.
    """

    day: Ints
    root: Ints
    ad: Ints
    names: tuple[str, ...]
    features: Floats
    composite: Floats
    primary: Floats
    reliability: Floats
    exposure: Floats

    def __len__(self) -> int:
        return len(self.day)

    @cached_property
    def group(self) -> Ints:
        """Dense code of root and day: the ads that are ranked against each other."""
        _, code = np.unique(np.stack([self.root, self.day]), axis=1, return_inverse=True)
        return np.asarray(code, dtype=np.int64).reshape(-1)

    @cached_property
    def week(self) -> Ints:
        """Whole weeks before the newest snapshot: 0 for that of today."""
        return (self.day.max() - self.day) // WEEK if len(self) else self.day

    def until(self, day: int) -> History:
        """What was known on that day."""
        return self.rows(self.day <= day)

    def rows(self, chosen: Bools) -> History:
        """The history of some rows."""
        taken = {name: getattr(self, name)[chosen] for name in self.__dataclass_fields__ if name != "names"}
        return History(names=self.names, **taken)


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What came of each row of a History in the 28 days after it.

    `known` marks the rows that have a label: the ad still ran, its layer existed, and so it was for at least four ads
    of the group. The other arrays hold nothing of use elsewhere.
    """

    known: Bools
    percentile: Floats
    weight: Floats
    exposure: Floats
    relevance: Ints
    top: Bools

    @property
    def gain(self) -> Floats:
        """What DCG pays for each row."""
        return np.asarray(GAINS)[self.relevance]


def labels(history: History) -> Labels:
    """Labels by the row of the same ad 28 days later, ranked inside the group at the time of the snapshot."""
    later = _later(history)
    found = (later >= 0) & np.isfinite(history.primary[later])
    group = history.group
    found &= np.isin(group, group[found][sizes(group[found]) >= SMALLEST_GROUP])
    percentile = np.where(found, history.primary[later], np.nan)
    relevance, top = np.zeros(len(history), dtype=np.int64), np.zeros(len(history), dtype=bool)
    place = ranks(percentile[found], group[found])
    relevance[found] = sum((place >= bound).astype(np.int64) for bound in RELEVANT)
    top[found] = place >= TOP
    return Labels(
        known=found,
        percentile=percentile,
        weight=np.where(found, np.maximum(history.reliability[later], LEAST_WEIGHT), 0.0),
        exposure=np.where(found, history.exposure[later], 0.0),
        relevance=relevance,
        top=top,
    )


def _later(history: History) -> Ints:
    """Row of the same ad 28 days later, -1 without one."""
    place = {key: row for row, key in enumerate(zip(history.ad.tolist(), history.day.tolist(), strict=True))}
    keys = zip(history.ad.tolist(), (history.day + HORIZON).tolist(), strict=True)
    return np.fromiter((place.get(key, -1) for key in keys), dtype=np.int64, count=len(history))
