"""Discrete-time hazards: a ridge logistic over weeks ahead (Cox 1972, Singer & Willett 1993), by Newton's method."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from orchestration.ranking.arrays import Floats
from orchestration.ranking.landmarks import BINS, NAMES, WIDTH, Landmarks

RIDGE = 1.0
ROUNDS = 25
# 30 days are four weeks and two days of the fifth
PART_OF_FIFTH = 2 / 7
# an ad's remaining life is followed this far
FURTHEST = 90


@dataclass(frozen=True, kw_only=True)
class Hazards:
    """The fitted weights: of standardised features, then of the weeks, then the offset."""

    mean: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]
    events: int

    def weekly(self, features: Floats) -> Floats:
        """Chance of the event in each of the five weeks ahead, given none before: rows x 5."""
        scaled = (features - np.asarray(self.mean)) / np.asarray(self.spread)
        weights = np.asarray(self.weights)
        odds = scaled @ weights[: len(NAMES)] + weights[-1]
        return np.asarray(1 / (1 + np.exp(-(odds[:, None] + weights[len(NAMES) : -1]))))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Hazards:
        many = {name: tuple(value[name]) for name in ("mean", "spread", "weights")}
        return cls(**many, events=value["events"])


def fit_hazards(rows: Landmarks, cutoff: int) -> Hazards | None:
    """Fit on the weeks whose outcome was known on `cutoff`; None without both outcomes among them."""
    row, week = np.nonzero(np.isfinite(rows.outcome) & (rows.known <= cutoff))
    outcome = rows.outcome[row, week]
    if not len(outcome) or not 0 < outcome.mean() < 1:
        return None
    mean, spread = rows.features[row].mean(axis=0), rows.features[row].std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    design = np.concatenate(
        [(rows.features[row] - mean) / spread, np.eye(BINS)[week], np.ones((len(row), 1))], axis=1
    )  # fmt: skip
    weights = _logistic(design, outcome)
    return Hazards(
        mean=tuple(mean.tolist()), spread=tuple(spread.tolist()), weights=tuple(weights.tolist()),
        events=int(outcome.sum()),
    )  # fmt: skip


def within_30_days(weekly: Floats) -> Floats:
    """Chance of the event within 30 days: 1 - (1-h1)(1-h2)(1-h3)(1-h4)(1-h5)^(2/7)."""
    stays = 1 - weekly
    return np.asarray(1 - stays[:, :-1].prod(axis=1) * stays[:, -1] ** PART_OF_FIFTH)


def days_left(weekly: Floats, furthest: int = FURTHEST) -> Floats:
    """Expected days without the event among the next `furthest`, the fifth week's chance held from there on.

    The restricted mean of the survival curve, which falls on a straight line inside each week.
    """
    weeks = -(-furthest // WIDTH)
    chances = np.concatenate([weekly, np.repeat(weekly[:, -1:], weeks - BINS, axis=1)], axis=1)
    after = np.cumprod(1 - chances, axis=1)
    before = np.concatenate([np.ones((len(after), 1)), after[:, :-1]], axis=1)
    lengths = np.minimum(WIDTH, furthest - WIDTH * np.arange(weeks))
    return np.asarray(((before + after) / 2) @ lengths)


def _logistic(design: Floats, outcome: Floats) -> Floats:
    penalty = np.full(design.shape[1], RIDGE)
    # the offset is free
    penalty[-1] = 1e-6
    share = outcome.mean()
    weights = np.zeros(design.shape[1])
    weights[-1] = np.log(share / (1 - share))
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        curvature = design.T @ (design * (chance * (1 - chance))[:, None]) + np.diag(penalty)
        step = np.linalg.solve(curvature, design.T @ (outcome - chance) - penalty * weights)
        weights = weights + step
        if np.abs(step).max() < 1e-10:
            break
    return np.asarray(weights)
