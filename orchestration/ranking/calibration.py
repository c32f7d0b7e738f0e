"""From a place inside the group to a probability: Platt's curve, or isotonic steps where there is much to fit on.

Platt 1999, with his own smoothed targets, by Newton's method; isotonic regression (pool adjacent violators) from SciPy,
each step drawn to the base rate by `PSEUDO` rows so that it is never 0 or 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from orchestration.ranking.arrays import Bools, Floats

# isotonic steps overfit below this: the advice of scikit-learn's manual
ISOTONIC_ROWS = 1000
ISOTONIC_TOPS = 200
PSEUDO = 20
STEPS = 25
SMALLEST = 1e-3


@dataclass(frozen=True)
class Calibration:
    """A curve over places in (0, 1): `slope` and `offset` of the log odds, or `places` with the probability at each."""

    slope: float = 0.0
    offset: float = 0.0
    places: tuple[float, ...] = ()
    chances: tuple[float, ...] = ()

    def probability(self, place: Floats) -> Floats:
        """Probability of being in the best quarter, for each place inside a group."""
        if self.places:
            return np.interp(place, self.places, self.chances)
        return 1 / (1 + np.exp(-(self.slope * _log_odds(place) + self.offset)))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Calibration:
        return cls(value["slope"], value["offset"], tuple(value["places"]), tuple(value["chances"]))


def calibrate(place: Floats, top: Bools) -> Calibration:
    """Fit the curve on places of ads that the ranker had not seen."""
    if len(place) >= ISOTONIC_ROWS and top.sum() >= ISOTONIC_TOPS:
        return _isotonic(place, top)
    return _platt(place, top)


def _log_odds(place: Floats) -> Floats:
    inside = np.clip(place, SMALLEST, 1 - SMALLEST)
    return np.asarray(np.log(inside / (1 - inside)))


def _platt(place: Floats, top: Bools) -> Calibration:
    tops, others = int(top.sum()), int((~top).sum())
    target = np.where(top, (tops + 1) / (tops + 2), 1 / (others + 2))
    design = np.stack([_log_odds(place), np.ones(len(place))], axis=1)
    # starts at the base rate
    solution = np.array([0.0, np.log((tops + 1) / (others + 1))])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-design @ solution))
        curvature = design.T @ (design * (chance * (1 - chance))[:, None]) + 1e-6 * np.eye(2)
        solution = solution + np.linalg.solve(curvature, design.T @ (target - chance))
    return Calibration(slope=float(solution[0]), offset=float(solution[1]))


def _isotonic(place: Floats, top: Bools) -> Calibration:
    # slow to import, and every run of the pipeline loads this module
    from scipy.optimize import isotonic_regression

    order = np.argsort(place, kind="stable")
    places, first = np.unique(place[order], return_index=True)
    count = np.diff([*first, len(order)])
    share = np.add.reduceat(top[order].astype(float), first) / count
    fitted = isotonic_regression(share, weights=count)
    base = float(top.mean())
    blocks = np.asarray(fitted.blocks)
    weight = np.add.reduceat(count, blocks[:-1])
    drawn = (np.asarray(fitted.x)[blocks[:-1]] * weight + PSEUDO * base) / (weight + PSEUDO)
    # smoothing may turn two neighbouring steps of unlike size: the steps stay ascending
    steps = np.repeat(np.maximum.accumulate(drawn), np.diff(blocks))
    ends = np.unique(np.concatenate([blocks[:-1], blocks[1:] - 1]))
    return Calibration(places=tuple(places[ends].tolist()), chances=tuple(steps[ends].tolist()))
