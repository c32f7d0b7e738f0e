"""Ads at weekly landmarks, and what came of each in the five weeks after, week by week (van Houwelingen 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from orchestration.ranking.arrays import Bools, Floats, Ints
from orchestration.ranking.wear import NEVER, STOPPED, TRAILING, Panel, last

Event = Literal["degradation", "pause"]
BINS = 5
WIDTH = 7
NAMES = ("log_index", "slope", "log_frequency", "frequency_gain", "log_age", "log_expected")
# a stop is known when its week is over, later in an account that rests
DELAY = {"degradation": 0, "pause": STOPPED - 1}


@dataclass(frozen=True, kw_only=True)
class Landmarks:
    """One row per landmark and ad at risk on it.

    `day` is the landmark (days since 1970), `ad` the row of the panel, `features` a column per name of NAMES.
    `outcome` is 1 in the week of the event, 0 in a week seen whole without it, else NaN; `known` is the day from which
    each week's outcome is known. `exposure` is spend: of the four weeks ahead for degradation, of the week behind for a
    pause, which itself would end the spend ahead.
    """

    day: Ints
    ad: Ints
    features: Floats
    outcome: Floats
    known: Ints
    exposure: Floats

    def __len__(self) -> int:
        return len(self.day)

    def rows(self, chosen: Bools) -> Landmarks:
        """Some of the rows."""
        return Landmarks(**{name: getattr(self, name)[chosen] for name in self.__dataclass_fields__})


def landmarks(panel: Panel, event: Event) -> Landmarks:
    """Every landmark back from the newest day, each ad that delivered on it, has an index and had no event."""
    happened = panel.worn_on if event == "degradation" else panel.stopped_on
    seen = last(np.isfinite(panel.index)) if event == "degradation" else _seen_running(panel)
    columns = np.arange(panel.spend.shape[1] - 1, 2 * TRAILING, -WIDTH)
    parts = [_at(panel, int(column), event, happened, seen) for column in columns[::-1]]
    return Landmarks(**{
        name: np.concatenate([getattr(part, name) for part in parts]) for name in Landmarks.__dataclass_fields__
    }) if parts else _at(panel, 0, event, happened, seen)  # fmt: skip


def at_risk(panel: Panel, column: int, happened: Ints) -> Bools:
    """Ads that delivered on a day, have an index there and had no event up to it."""
    running = panel.delivered[:, column] & np.isfinite(panel.index[:, column])
    return np.asarray(running & ((happened == NEVER) | (happened > column)))


def features(panel: Panel, column: int, ads: Ints) -> Floats:
    """What is known of the ads on a day, as logs: no unit of money is left in it."""
    before = max(column - TRAILING, 0)
    now, then = np.log(panel.index[ads, column]), np.log(panel.index[ads, before])
    often, once = np.log(panel.frequency[ads, column]), np.log(panel.frequency[ads, before])
    return np.stack([
        now,
        np.nan_to_num(now - then),
        often,
        often - once,
        np.log(panel.age[ads, column]),
        np.log(panel.expected[ads, column]),
    ], axis=1)  # fmt: skip


def _at(panel: Panel, column: int, event: Event, happened: Ints, seen: Ints) -> Landmarks:
    ads = np.flatnonzero(at_risk(panel, column, happened))
    outcome, known = np.full((len(ads), BINS), np.nan), np.zeros((len(ads), BINS), dtype=np.int64)
    over = np.zeros(len(ads), dtype=bool)
    for week in range(BINS):
        end = column + (week + 1) * WIDTH
        known[:, week] = panel.first + (end if event == "degradation" else panel.stop_known_on(ads, end))
        now = (happened[ads] > end - WIDTH) & (happened[ads] <= end)
        whole = seen[ads] >= end
        outcome[~over & now, week] = 1.0
        outcome[~over & ~now & whole, week] = 0.0
        over |= now | ~whole
    ahead = slice(column + 1, column + 29) if event == "degradation" else slice(max(column - 6, 0), column + 1)
    return Landmarks(
        day=np.full(len(ads), panel.first + column),
        ad=ads,
        features=features(panel, column, ads),
        outcome=outcome,
        known=known,
        exposure=panel.spend[ads, ahead].sum(axis=1),
    )


def _seen_running(panel: Panel) -> Ints:
    """Last column up to which it is known whether an ad had stopped: its account spent on a week of days from there."""
    ads, days = np.arange(len(panel.ad)), panel.spend.shape[1]
    known = np.stack([panel.stop_known_on(ads, column) for column in range(days)], axis=1)
    return last(known < days)
