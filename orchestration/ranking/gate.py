"""How well a score found the best ads of a later time, with bounds that hold for ads and not only for rows.

Concordance (Hanley & McNeil 1982) is counted inside strata of one group and one third of its later exposure: ads with
much exposure have wider label percentiles, so a ranker by spend alone would look skilled on pure noise. One ad stands
in many snapshots, so the bootstrap draws ads (cluster bootstrap, Field & Welsh 2007). The lift is DCG@5 (Järvelin &
Kekäläinen 2002) above that of a random order, as a share of the best possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orchestration.ranking.arrays import Bools, Floats, Ints, grouped

DRAWS = 1000
SEED = 20_260_101
TAIL = 0.05
TERCILES = 3
CUT = 5
# how many draws are weighed at once; only memory depends on it
CHUNK = 250


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Scored rows of a time the model had not seen; one row per ad and snapshot, all arrays of one length.

    `top` is what was to be found, `gain` what DCG pays for a row (0 where nothing), `exposure` what the ad was exposed
    to during the time of the label, `group` and `ad` dense codes.
    """

    score: Floats
    top: Bools
    gain: Floats
    group: Ints
    exposure: Floats
    ad: Ints

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True)
class Bounded:
    """An estimate with its 5 % and 95 % bounds; the bounds are NaN where nothing could be compared."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Measured:
    """What `measure` found: AUC, lift of DCG@5, the distinct ads behind them and how many of those were ever top."""

    auc: Bounded
    lift: Bounded
    ads: int
    top_ads: int


def measure(rows: Judged, *, draws: int = DRAWS, seed: int = SEED) -> Measured:
    """AUC and lift with bounds from `draws` resamples of ads. Deterministic."""
    ads, code = np.unique(rows.ad, return_inverse=True)
    generator = np.random.default_rng(seed)
    share = np.full(len(ads), 1 / max(len(ads), 1))
    once = np.ones((1, len(ads)))
    counts = [_counts(rows, code, once)]
    for begin in range(0, draws if len(ads) else 0, CHUNK):
        drawn = generator.multinomial(len(ads), share, size=min(CHUNK, draws - begin)).astype(float)
        counts.append(_counts(rows, code, drawn))
    concordant, comparable, lift = (np.concatenate(part) for part in zip(*counts, strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        auc = concordant / comparable
    return Measured(
        auc=_bounded(auc), lift=_bounded(lift), ads=len(ads), top_ads=len(np.unique(rows.ad[rows.top]))
    )  # fmt: skip


def thirds(group: Ints, exposure: Floats, ad: Ints) -> Ints:
    """Which third of its group's exposure a row is in, 0 to 2; ties go by ad."""
    third = np.zeros(len(group), dtype=np.int64)
    for rows in grouped(group):
        order = rows[np.lexsort((ad[rows], exposure[rows]))]
        third[order] = TERCILES * np.arange(len(order)) // max(len(order), 1)
    return third


def _bounded(drawn: Floats) -> Bounded:
    value, resampled = float(drawn[0]), drawn[1:][np.isfinite(drawn[1:])]
    if not np.isfinite(value) or not len(resampled):
        return Bounded(value, float("nan"), float("nan"))
    low, high = np.quantile(resampled, (TAIL, 1 - TAIL))
    # a skewed bootstrap is not trusted on the side that flatters: the basic bound where it is lower
    return Bounded(value, float(min(low, 2 * value - high)), float(high))


def _counts(rows: Judged, code: Ints, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Concordant and comparable pairs and the mean lift, for each row of ad weights."""
    concordant, comparable = np.zeros(len(weight)), np.zeros(len(weight))
    third = thirds(rows.group, rows.exposure, rows.ad)
    for stratum in grouped(rows.group * TERCILES + third):
        some, all_ = _pairs(rows.score[stratum], rows.top[stratum], weight[:, code[stratum]])
        concordant, comparable = concordant + some, comparable + all_
    lifts, groups = np.zeros(len(weight)), np.zeros(len(weight))
    for members in grouped(rows.group):
        lift = _lift(rows.score[members], rows.gain[members], weight[:, code[members]])
        lifts, groups = lifts + np.nan_to_num(lift), groups + np.isfinite(lift)
    with np.errstate(invalid="ignore"):
        return concordant, comparable, lifts / groups


def _pairs(score: Floats, top: Bools, weight: Floats) -> tuple[Floats, Floats]:
    """Weighted pairs of a top row and another where the score agrees (ties half), and all such pairs."""
    if top.all() or not top.any():
        return np.zeros(len(weight)), np.zeros(len(weight))
    others = np.sort(score[~top])
    order = np.argsort(score[~top], kind="stable")
    below = np.concatenate([np.zeros((len(weight), 1)), np.cumsum(weight[:, ~top][:, order], axis=1)], axis=1)
    under = np.searchsorted(others, score[top], side="left")
    upto = np.searchsorted(others, score[top], side="right")
    agree = (weight[:, top] * (below[:, under] + below[:, upto]) / 2).sum(axis=1)
    return agree, weight[:, top].sum(axis=1) * below[:, -1]


def _lift(score: Floats, gain: Floats, weight: Floats) -> Floats:
    """(DCG@5 - that of a random order) / the best possible, of one group; NaN where nothing is to be found."""
    total = weight.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = (weight @ gain) / total * _discount(total)
        ideal = _dcg(np.argsort(-gain, kind="stable"), gain, weight)
        return np.where(ideal > 0, (_dcg(np.argsort(-score, kind="stable"), gain, weight) - expected) / ideal, np.nan)


def _dcg(order: Ints, gain: Floats, weight: Floats) -> Floats:
    """DCG of a list in which each row stands as often as it weighs."""
    place = np.concatenate([np.zeros((len(weight), 1)), np.cumsum(weight[:, order], axis=1)], axis=1)
    return np.asarray(np.diff(_discount(place), axis=1) @ gain[order])


def _discount(places: Floats) -> Floats:
    """Sum of 1 / log2(place + 1) over the first `places` places, at most five."""
    sums = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, CUT + 2)))])
    return sums[np.minimum(places, CUT).astype(np.int64)]
