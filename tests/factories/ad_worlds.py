"""Worlds of ads whose truth is known, week by week: counts with or without lasting differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from orchestration.ranking.arrays import Floats, Ints
from orchestration.ranking.evaluation import Evaluation
from orchestration.ranking.history import WEEK, History
from orchestration.ranking.likelihood import evaluate
from orchestration.ranking.standing import APART, Standing, standing

NAMES = ("outcomes", "outcomes_reliability", "clicks", "clicks_reliability", "log_spend", "age")
WINDOW = 4


@dataclass(frozen=True, kw_only=True)
class World:
    """`accounts` x `ads` over `weeks`; `quality` is the spread of true outcomes per spend (log), 0 for pure noise.

    Clicks differ between ads in every world; `agree` is how much their differences tell of outcomes.
    """

    accounts: int = 4
    ads: int = 60
    weeks: int = 32
    quality: float = 0.0
    agree: float = 0.6
    outcomes_a_week: float = 4.0
    # a week from which true quality is dealt anew each week: what was learnt before is worth nothing
    shuffled_from: int | None = None

    def history(self, seed: int) -> History:
        """Weekly snapshots over the whole time, with 28-day windows."""
        draw = np.random.default_rng(seed)
        shape = (self.accounts * self.ads, self.weeks)
        truth = draw.normal(size=shape[0])
        clicky = self.agree * truth + np.sqrt(1 - self.agree**2) * draw.normal(size=shape[0])
        spend = np.exp(draw.normal(0, 0.8, size=(shape[0], 1)) + 0.4 * draw.normal(size=shape))
        begun = draw.integers(-20, self.weeks - WINDOW, size=(shape[0], 1))
        ended = begun + draw.integers(6, 40, size=(shape[0], 1))
        spend *= (np.arange(self.weeks) >= begun) & (np.arange(self.weeks) < ended)
        true = np.repeat(truth[:, None], self.weeks, axis=1)
        if self.shuffled_from is not None:
            true[:, self.shuffled_from :] = draw.normal(size=(shape[0], self.weeks - self.shuffled_from))
        outcomes = draw.poisson(self.outcomes_a_week * spend * np.exp(self.quality * true))
        clicks = draw.poisson(60 * spend * np.exp(0.3 * clicky)[:, None])
        return self._snapshots(spend, outcomes, clicks, begun)

    def _snapshots(self, spend: Floats, outcomes: Ints, clicks: Ints, begun: Ints) -> History:
        account = np.arange(len(spend)) // self.ads
        parts = []
        for week in range(WINDOW - 1, self.weeks):
            past = slice(week - WINDOW + 1, week + 1)
            spent = spend[:, past].sum(axis=1)
            live = np.flatnonzero(spent > 0)
            k, c = outcomes[live][:, past].sum(axis=1), clicks[live][:, past].sum(axis=1)
            primary, reliability = percentile(k, spent[live], account[live], 0.6)
            clicking, click_reliability = percentile(c, spent[live], account[live], 0.35)
            features = np.stack([
                primary, reliability, clicking, click_reliability, np.log(spent[live]), week - begun[live, 0],
            ], axis=1)  # fmt: skip
            parts.append((np.full(len(live), (week + 1) * WEEK), account[live], live, features,
                          0.7 * primary + 0.3 * clicking, primary, reliability, spent[live]))  # fmt: skip
        day, root, ad, features, composite, primary, reliability, exposure = (
            np.concatenate(part) for part in zip(*parts, strict=True)
        )
        return History(
            day=day, root=root, ad=ad, names=NAMES, features=features, composite=composite,
            primary=primary, reliability=reliability, exposure=exposure,
        )  # fmt: skip


def percentile(events: Ints, exposure: Floats, account: Ints, spread: float) -> tuple[Floats, Floats]:
    """Posterior expected percentile and reliability under a gamma prior of that relative spread, by account."""
    mean = np.bincount(account, events) / np.bincount(account, exposure)
    expected, prior = exposure * mean[account], 1 / spread**2
    tempered = expected / (expected + 0.5)
    ratio, shape = (prior + events * tempered) / (prior + expected * tempered), prior + events * tempered
    z = np.cbrt(ratio) * (1 - 1 / (9 * shape)) - (1 - 1 / (9 * prior))
    z /= np.sqrt(np.cbrt(ratio) ** 2 / (9 * shape) + 1 / (9 * prior))
    return 100 * ndtr(z), expected / (expected + prior)


def looks_over_time(history: History, *, looks: int) -> list[tuple[Evaluation, Standing]]:
    """A look every four weeks up to the newest day, and the standing after each; none where there was too little."""
    told: list[tuple[Evaluation, Standing]] = []
    for back in range(looks - 1, -1, -1):
        look = evaluate(history.until(int(history.day.max()) - back * APART.days))
        if look is not None:
            told.append((look, standing([*(one for one, _ in told), look], look.day)))
    return told
