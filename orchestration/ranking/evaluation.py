"""What one look at a measure's skill found, and whether it passed: the record that is kept between runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np

from orchestration.ranking.arrays import Bools, Floats
from orchestration.ranking.gate import Bounded, Measured

# a change of features, labels or models is a new procedure, whose looks begin anew
RECIPE = 3
LEAST_AUC = 0.52
LEAST_ADS = 50
LEAST_TOP_ADS = 30
LARGEST_BIAS = 0.10
BINS = 10
# fewer rows than this make a point of the curve jump by chance
LEAST_IN_BIN = 50


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One look: figures of rows that no model had seen, on `day`, the last day known to it.

    `fault` is empty for a pass, else no_skill or miscalibrated. `curve` holds mean probability, observed share and rows
    of each bin, over the rows that `brier_skill` is of. `rules` is the AUC of the rule-based score on the same rows.
    """

    measure: str
    day: date
    recipe: int
    fault: str
    auc: Bounded
    lift: Bounded
    rules: Bounded
    brier_skill: float
    mean_probability: float
    base_rate: float
    ads: int
    top_ads: int
    rows: int
    curve: tuple[tuple[float, float, int], ...]

    @property
    def passed(self) -> bool:
        return not self.fault

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "day": self.day.isoformat()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Evaluation:
        bounds = {name: Bounded(**value[name]) for name in ("auc", "lift", "rules")}
        curve = tuple((float(mean), float(seen), int(rows)) for mean, seen, rows in value["curve"])
        return cls(**{**value, **bounds, "day": date.fromisoformat(value["day"]), "curve": curve})


@dataclass(frozen=True)
class Forecast:
    """Probabilities beside what happened, and the share that somebody without a model would have told."""

    probability: Floats
    happened: Bools
    reference: float

    @property
    def brier_skill(self) -> float:
        """1 - Brier score / that of the reference (Murphy 1973); above 0 is better than no model."""
        told = float(np.mean((self.probability - self.happened) ** 2))
        return 1 - told / float(np.mean((self.reference - self.happened) ** 2))

    @property
    def curve(self) -> tuple[tuple[float, float, int], ...]:
        """Mean probability, observed share and rows of each tenth of the rows, or of fewer parts where they are few."""
        order = np.argsort(self.probability, kind="stable")
        return tuple(
            (float(self.probability[part].mean()), float(self.happened[part].mean()), len(part))
            for part in np.array_split(order, max(min(BINS, len(order) // LEAST_IN_BIN), 1))
            if len(part)
        )


def fault_of(found: Measured, forecast: Forecast) -> str:
    """Why a look at the likelihood does not pass; empty when it does."""
    if not (found.auc.low > LEAST_AUC and found.lift.low > 0):
        return "no_skill"
    biased = abs(float(forecast.probability.mean()) - float(forecast.happened.mean())) > LARGEST_BIAS
    return "miscalibrated" if biased or not forecast.brier_skill > 0 else ""


def enough(found: Measured) -> bool:
    """Whether as many ads stand behind a look as a verdict needs."""
    return found.ads >= LEAST_ADS and found.top_ads >= LEAST_TOP_ADS
