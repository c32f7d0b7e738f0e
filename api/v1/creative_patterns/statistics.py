"""Which kinds of creatives win more often than chance explains: pure functions over counts.

A trial is an ad whose score is mature or calibrated, a win one with a composite of 75 or more. A kind of creative is
compared with the very profiles it ran in: each has a share of wins, and their mean, weighted by the kind's ads, is the
kind's baseline p0 (stratified, so that a profile that always wins lifts no kind that happens to be common there).

- win rate m = (w + 20 p0) / (n + 20): the mean of a beta posterior whose prior is worth 20 ads at p0 (Efron, Morris
  1975 on shrinking to a common mean). Its spread is taken as normal, s = sqrt(m (1 - m) / (n + 21)).
- leading: the 10 % quantile m - 1.2816 s lies above p0.
- confirmed: leading, and among all kinds of the answer the false discovery rate stays below 10 % (Benjamini, Hochberg
  1995) over P(X >= w), X binomial (n, p0). Drawn from several profiles, w has a lighter tail than that (Hoeffding
  1956), so the test errs on the side of chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

PSEUDO_TRIALS = 20
LOW_QUANTILE = 1.2816
INTERVAL = 1.6449
FALSE_DISCOVERIES = 0.10
FEWEST_JUDGED = 5
NEGLIGIBLE = 1e-18
# from so many profiles on, a kind must have run in as many
FEWEST_PROFILES = 3

VERDICTS = ("confirmed", "leading", "inconclusive")


@dataclass(frozen=True, slots=True)
class Stratum:
    """One kind of creative in one profile: its ads that were tried and won, among the profile's own."""

    n: int
    wins: int
    profile_n: int
    profile_wins: int


@dataclass(frozen=True, slots=True)
class Tally:
    """One kind of creative over all profiles it ran in; not empty."""

    strata: Sequence[Stratum] = field(repr=False)

    @property
    def n(self) -> int:
        return sum(one.n for one in self.strata)

    @property
    def wins(self) -> int:
        return sum(one.wins for one in self.strata)

    @property
    def profiles(self) -> int:
        return len(self.strata)

    @property
    def baseline(self) -> float:
        """p0: the wins its ads would have at their own profiles' shares, per ad."""
        return sum(one.n * one.profile_wins / one.profile_n for one in self.strata) / self.n

    @property
    def win_rate(self) -> float:
        """m, the share of wins drawn to the baseline."""
        return (self.wins + PSEUDO_TRIALS * self.baseline) / (self.n + PSEUDO_TRIALS)

    @property
    def spread(self) -> float:
        """s, the posterior's standard deviation."""
        rate = self.win_rate
        return math.sqrt(rate * (1 - rate) / (self.n + PSEUDO_TRIALS + 1))

    @property
    def interval(self) -> tuple[float, float]:
        """Nine times in ten the rate lies within."""
        reach = INTERVAL * self.spread
        return max(self.win_rate - reach, 0.0), min(self.win_rate + reach, 1.0)

    @property
    def is_leading(self) -> bool:
        low = self.win_rate - LOW_QUANTILE * self.spread
        return self.n >= FEWEST_JUDGED and low > self.baseline

    @property
    def chance(self) -> float:
        """How likely as many wins are at the baseline."""
        return at_least(self.wins, self.n, self.baseline)


def at_least(wins: int, n: int, p: float) -> float:
    """P(X >= wins) of a binomial (n, p)."""
    if wins <= 0 or p >= 1:
        return 1.0
    if p <= 0:
        return 0.0
    # away from the mean each term is smaller than the one before, so of many ads few terms count
    if wins > n * p:
        return min(_sum(range(wins, n + 1), n, p), 1.0)
    return max(1.0 - _sum(range(wins - 1, -1, -1), n, p), 0.0)


def _sum(counts: Iterable[int], n: int, p: float) -> float:
    """Probabilities of these counts, which lead away from the mean, until no further one shows."""
    log_p, log_q, log_n, total = math.log(p), math.log1p(-p), math.lgamma(n + 1), 0.0
    for k in counts:
        term = math.exp(log_n - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * log_p + (n - k) * log_q)
        total += term
        if term < total * NEGLIGIBLE:
            break
    return total


def verdicts(tallies: Sequence[Tally]) -> list[str]:
    """confirmed, leading or inconclusive for each; all that are judged together are given together."""
    judged = sorted(one.chance for one in tallies if one.n >= FEWEST_JUDGED)
    kept = [p for rank, p in enumerate(judged, start=1) if p <= FALSE_DISCOVERIES * rank / len(judged)]
    bound = kept[-1] if kept else -1.0
    return [_verdict(one, bound) for one in tallies]


def _verdict(tally: Tally, bound: float) -> str:
    if not tally.is_leading:
        return "inconclusive"
    return "confirmed" if tally.chance <= bound else "leading"


def is_shown(tally: Tally, *, fewest: int, included: int) -> bool:
    """Whether it is told at all; `included` = profiles with any trial. Else businesses would be compared."""
    needed = FEWEST_PROFILES if included >= FEWEST_PROFILES else 1
    return tally.n >= fewest and tally.profiles >= needed
