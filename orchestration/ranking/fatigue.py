"""The chances that an ad wears out or stops within 30 days: looked at like the likelihood, with a gate of their own."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from orchestration.ranking.arrays import Bools, Floats
from orchestration.ranking.evaluation import LEAST_AUC, RECIPE, Evaluation, Forecast
from orchestration.ranking.folds import BLOCKS, folds
from orchestration.ranking.gate import Bounded, Judged, measure
from orchestration.ranking.hazard import fit_hazards, within_30_days
from orchestration.ranking.landmarks import BINS, DELAY, WIDTH, Event, Landmarks, landmarks
from orchestration.ranking.likelihood import EPOCH
from orchestration.ranking.wear import Panel

LEAST_EVENTS = 30
LEAST_WORN_ADS = 15
# observed over expected events
CALIBRATED = (0.67, 1.5)
TIERS = ((0.2, "low"), (0.5, "medium"), (0.8, "high"), (float("inf"), "critical"))
NOWHERE = Bounded(float("nan"), float("nan"), float("nan"))


def tier(hazard: float) -> str:
    """The word for a chance of wearing out within 30 days."""
    return next(name for bound, name in TIERS if hazard < bound)


def evaluate_hazard(panel: Panel, event: Event, *, rows: Landmarks | None = None) -> Evaluation | None:
    """One look on the panel's newest day; None with too few events for a verdict. `rows` stand in for the panel's."""
    rows = landmarks(panel, event) if rows is None else rows
    blocks = unseen(rows, panel.newest, horizon=BINS * WIDTH + DELAY[event])
    if len(blocks) < BLOCKS:
        return None
    weekly = np.concatenate([told for _, told in blocks])
    judged = Landmarks(**{
        name: np.concatenate([getattr(part, name) for part, _ in blocks]) for name in Landmarks.__dataclass_fields__
    })  # fmt: skip
    happened, settled = _within_30_days(judged)
    if len(np.unique(judged.ad[happened])) < LEAST_WORN_ADS:
        return None
    found = measure(_judged(judged, within_30_days(weekly), happened, settled))
    seen = np.isfinite(judged.outcome)
    forecast = Forecast(weekly[seen], judged.outcome[seen] == 1, float(judged.outcome[seen].mean()))
    return Evaluation(
        measure=f"hazard_30d_{event}",
        day=EPOCH + timedelta(days=panel.newest),
        recipe=RECIPE,
        fault=_fault(found.auc, forecast),
        auc=found.auc,
        lift=found.lift,
        rules=NOWHERE,
        brier_skill=forecast.brier_skill,
        mean_probability=float(forecast.probability.mean()),
        base_rate=float(forecast.happened.mean()),
        ads=found.ads,
        top_ads=found.top_ads,
        rows=len(judged),
        curve=forecast.curve,
    )


def unseen(rows: Landmarks, newest: int, *, horizon: int) -> list[tuple[Landmarks, Floats]]:
    """Rows of the last blocks whose `horizon` days are over, with weekly chances fitted on what was known before each.

    Empty where some block had too few events before it.
    """
    parts = []
    for fold in folds(rows.day, np.ones(len(rows), dtype=bool), newest, horizon=horizon):
        hazards = fit_hazards(rows, fold.start)
        if hazards is None or hazards.events < LEAST_EVENTS:
            return []
        parts.append((rows.rows(fold.test), hazards.weekly(rows.features[fold.test])))
    return parts


def _within_30_days(rows: Landmarks) -> tuple[Bools, Bools]:
    """Whether the event came within five weeks, and whether that is known of the row.

    The fifth week is seen whole, so the label reaches 35 days; the order of the chances is the same.
    """
    happened = (rows.outcome == 1).any(axis=1)
    return happened, happened | np.isfinite(rows.outcome[:, -1])


def _judged(rows: Landmarks, chance: Floats, happened: Bools, settled: Bools) -> Judged:
    return Judged(
        score=chance[settled],
        top=happened[settled],
        gain=happened[settled].astype(float),
        group=rows.day[settled],
        exposure=rows.exposure[settled],
        ad=rows.ad[settled],
    )


def _fault(auc: Bounded, forecast: Forecast) -> str:
    if not auc.low > LEAST_AUC:
        return "no_skill"
    ratio = float(forecast.happened.sum()) / float(forecast.probability.sum())
    low, high = CALIBRATED
    return "" if low <= ratio <= high and forecast.brier_skill > 0 else "miscalibrated"
