"""Worlds of ads that wear, drop, are paused, or none of it: daily delivery, and the day that each would wear out on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orchestration.ranking.arrays import Floats, Ints
from orchestration.ranking.wear import Panel

# click likelihood by the number of exposures before: (N + 1) ** -0.43
DECAY = 0.43
FIRST_DAY = 20_000
NEVER_WORN = 10_000


@dataclass(frozen=True, kw_only=True)
class WearWorld:
    """`accounts` x `ads` over `days`.

    `wear` scales how fast people have seen an ad (0: nobody tires), `drops` is the daily chance that clicks fall to
    `drop_to` of themselves at once, `pauses` the daily chance of a stop, `pauses_when_worn` one once clicks have fallen
    below two thirds.
    """

    accounts: int = 3
    ads: int = 60
    days: int = 200
    wear: float = 0.0
    drops: float = 0.0
    drop_to: float = 0.35
    pauses: float = 0.002
    pauses_when_worn: float = 0.0
    clicks_a_day: float = 12.0

    def panel(self, seed: int) -> Panel:
        return self.told(seed)[0]

    def told(self, seed: int) -> tuple[Panel, Ints]:
        """The panel, and the column on which each ad's true response had halved (NEVER_WORN without), pauses aside."""
        draw = np.random.default_rng(seed)
        ads, days = self.accounts * self.ads, self.days
        begun = draw.integers(-40, days - 20, size=(ads, 1))
        age = np.maximum(np.arange(days) - begun, 0)
        speed = self.wear * np.exp(draw.normal(0, 0.7, size=(ads, 1)))
        seen = 1 + speed * age
        rate = (seen + 1) ** -DECAY / (1 + speed * 7 + 1) ** -DECAY
        if self.drops:
            dropped = np.cumsum(draw.random((ads, days)) < self.drops, axis=1) > 0
            rate = np.where(dropped & (age > 14), self.drop_to * rate, rate)
        true = np.where((rate <= 0.5).any(axis=1), (rate <= 0.5).argmax(axis=1), NEVER_WORN)
        stop = draw.random((ads, days)) < self.pauses + self.pauses_when_worn * (rate < 0.67)
        on = (np.arange(days) >= begun) & (np.cumsum(stop & (np.arange(days) >= begun), axis=1) == 0)
        size = np.exp(draw.normal(0, 0.6, size=(ads, 1)) + 0.2 * draw.normal(size=(ads, days)))
        spend = 1000.0 * size * on
        reach = np.round(4000 * size * on)
        return self._panel(draw, spend, reach, rate, np.minimum(seen, 12)), true

    def _panel(self, draw: np.random.Generator, spend: Floats, reach: Floats, rate: Floats, seen: Floats) -> Panel:
        account = np.arange(len(spend)) // self.ads
        return Panel(
            first=FIRST_DAY,
            ad=np.arange(len(spend)),
            root=account,
            account=account,
            spend=spend,
            impressions=np.round(reach * seen),
            reach=reach,
            clicks=draw.poisson(self.clicks_a_day * spend / 1000 * rate).astype(float),
            outcomes=np.zeros_like(spend),
        )
