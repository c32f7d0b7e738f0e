"""The likelihood of being among the best quarter of the next 28 days: fitted, looked at, and told for today's ads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

from orchestration.ranking.arrays import Bools, Floats, Ints, ranks, sizes
from orchestration.ranking.calibration import Calibration, calibrate
from orchestration.ranking.evaluation import RECIPE, Evaluation, Forecast, enough, fault_of
from orchestration.ranking.folds import BLOCKS, folds
from orchestration.ranking.gate import Judged, measure
from orchestration.ranking.history import HORIZON, SMALLEST_GROUP, History, Labels, labels
from orchestration.ranking.model import LEAST_ROWS, fit_ranker, scores

if TYPE_CHECKING:
    import lightgbm

MEASURE = "top_performer_likelihood"
EPOCH = date(1970, 1, 1)
# rules without a score place an ad in the middle
MIDDLE = 50.0


@dataclass(frozen=True)
class Unseen:
    """Scores of the labelled rows of the last blocks, each by a ranker fitted before its block.

    `rows` are row numbers of the history, `block` the first day of the block of each.
    """

    rows: Ints
    score: Floats
    block: Ints


@dataclass(frozen=True)
class Ranker:
    """The fitted trees, and the curve from places to probabilities; None where too little was unseen to fit one."""

    trees: lightgbm.Booster
    calibration: Calibration | None


def fit(history: History) -> Ranker | None:
    """A ranker of every settled row; None with too few of them."""
    known = labels(history)
    if known.known.sum() < LEAST_ROWS:
        return None
    return Ranker(fit_ranker(history, known, known.known), _curve(history, known, unseen(history, known)))


def unseen(history: History, known: Labels) -> Unseen | None:
    """Out-of-time scores of the last four blocks; None where a block is missing or has too little before it."""
    parts = []
    for fold in folds(history.day, known.known, int(history.day.max())):
        if (fold.train & known.known).sum() < LEAST_ROWS:
            return None
        rows = np.flatnonzero(fold.test)
        rows = rows[np.lexsort((history.ad[rows], history.group[rows]))]
        score = scores(fit_ranker(history, known, fold.train), history.features[rows])
        parts.append((rows, score, np.full(len(rows), fold.start)))
    if len(parts) < BLOCKS:
        return None
    return Unseen(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def evaluate(history: History) -> Evaluation | None:
    """One look on the history's newest day; None where there is too little of it for a verdict."""
    known = labels(history)
    scored = unseen(history, known) if len(history) else None
    if scored is None:
        return None
    found = measure(_judged(history, known, scored, scored.score))
    composite = np.nan_to_num(history.composite[scored.rows], nan=MIDDLE)
    forecast = _forecast(history, known, scored)
    if forecast is None or not enough(found):
        return None
    return Evaluation(
        measure=MEASURE,
        day=EPOCH + timedelta(days=int(history.day.max())),
        recipe=RECIPE,
        fault=fault_of(found, forecast),
        auc=found.auc,
        lift=found.lift,
        rules=measure(_judged(history, known, scored, composite)).auc,
        brier_skill=forecast.brier_skill,
        mean_probability=float(forecast.probability.mean()),
        base_rate=float(forecast.happened.mean()),
        ads=found.ads,
        top_ads=found.top_ads,
        rows=len(scored.rows),
        curve=forecast.curve,
    )


def likelihoods(ranker: Ranker, history: History, chosen: Bools) -> Floats:
    """Probability of each chosen row (of one snapshot); NaN in a group too small to have an order."""
    told = np.full(int(chosen.sum()), np.nan)
    group = history.group[chosen]
    whole = sizes(group) >= SMALLEST_GROUP
    if ranker.calibration is not None and whole.any():
        score = scores(ranker.trees, history.features[chosen][whole])
        told[whole] = ranker.calibration.probability(ranks(score, group[whole]))
    return told


def _judged(history: History, known: Labels, scored: Unseen, score: Floats) -> Judged:
    rows = scored.rows
    return Judged(
        score=score,
        top=known.top[rows],
        gain=known.gain[rows],
        group=history.group[rows],
        exposure=known.exposure[rows],
        ad=history.ad[rows],
    )


def _places(history: History, scored: Unseen) -> Floats:
    return ranks(scored.score, history.group[scored.rows])


def _forecast(history: History, known: Labels, scored: Unseen) -> Forecast | None:
    """The last block's probabilities, by a curve of what was settled before it began."""
    last = scored.block == scored.block.max()
    before = history.day[scored.rows] + HORIZON <= scored.block.max()
    place, top = _places(history, scored), known.top[scored.rows]
    if not before.any() or not 0 < top[before].mean() < 1 or not 0 < top[last].mean() < 1:
        return None
    told = calibrate(place[before], top[before]).probability(place[last])
    return Forecast(told, top[last], float(top[before].mean()))


def _curve(history: History, known: Labels, scored: Unseen | None) -> Calibration | None:
    if scored is None:
        return None
    return calibrate(_places(history, scored), known.top[scored.rows])
