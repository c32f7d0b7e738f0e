"""How long an ad keeps up: the days told by the hazards of wear, held against the ninety days that came after.

A look like those of the chances, over rows whose ninety days are over. What an ad would have done that was stopped
before is not known: such rows count as long as they were seen (Kaplan & Meier 1958), and errors of the others are
weighed by how likely a row was to be seen that long (Graf et al. 1999). Days are told as a share of the ninety here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from orchestration.ranking.arrays import Bools, Floats, Ints
from orchestration.ranking.evaluation import BINS, LARGEST_BIAS, LEAST_AUC, LEAST_IN_BIN, RECIPE, Evaluation
from orchestration.ranking.fatigue import LEAST_WORN_ADS, NOWHERE, unseen
from orchestration.ranking.folds import BLOCKS
from orchestration.ranking.gate import Judged, measure
from orchestration.ranking.hazard import FURTHEST, days_left
from orchestration.ranking.landmarks import Landmarks, landmarks
from orchestration.ranking.likelihood import EPOCH
from orchestration.ranking.wear import NEVER, Panel, last

DAYS_LEFT = "expected_lifespan_days"
# with fewer rows followed to the end, the weights of those few decide everything
LEAST_FOLLOWED = 0.10


@dataclass(frozen=True)
class Seen:
    """Days from a landmark to the event or to the last day seen, ninety at most, and whether the event ended them."""

    days: Ints
    worn: Bools

    @property
    def settled(self) -> Bools:
        """Rows of which all ninety days are known: worn within them, or seen to their end."""
        return np.asarray(self.worn | (self.days == FURTHEST))

    def rows(self, chosen: Bools | Ints) -> Seen:
        """Some of the rows."""
        return Seen(self.days[chosen], self.worn[chosen])

    @property
    def mean(self) -> float:
        """Mean days kept up within ninety: the area under the Kaplan-Meier curve."""
        return float(_stay(self.days, self.worn)[:-1].sum())

    @property
    def weights(self) -> Floats:
        """One over the chance to be followed so long, for settled rows; 0 for the others."""
        followed = _stay(self.days, ~self.settled)
        return np.where(self.settled, 1 / np.maximum(followed[self.days - 1], LEAST_FOLLOWED), 0.0)

    @property
    def followed(self) -> float:
        """The share of rows that would be seen to the end if nothing wore out."""
        return float(_stay(self.days, ~self.settled)[-1])


def lifespan(panel: Panel, column: int, ads: Ints, weekly: Floats) -> Floats:
    """Days from an ad's first delivery to the day through which it should keep up, at most ninety from `column` on."""
    return np.asarray(column - panel.delivered[ads].argmax(axis=1) + days_left(weekly))


def evaluate_days(panel: Panel, *, rows: Landmarks | None = None) -> Evaluation | None:
    """One look on the panel's newest day; None with too little for a verdict. `rows` stand in for the panel's."""
    rows = landmarks(panel, "degradation") if rows is None else rows
    blocks = unseen(rows, panel.newest, horizon=FURTHEST)
    if len(blocks) < BLOCKS:
        return None
    day, ad = (np.concatenate([getattr(part, name) for part, _ in blocks]) for name in ("day", "ad"))
    exposure = np.concatenate([part.exposure for part, _ in blocks])
    told = days_left(np.concatenate([weekly for _, weekly in blocks])) / FURTHEST
    seen = followed(panel, day, ad)
    if len(np.unique(ad[seen.worn])) < LEAST_WORN_ADS or seen.followed < LEAST_FOLLOWED:
        return None
    settled = seen.settled
    found = measure(
        Judged(
            score=-told[settled], top=seen.worn[settled], gain=seen.worn[settled].astype(float),
            group=day[settled], exposure=exposure[settled], ad=ad[settled],
        )
    )  # fmt: skip
    share, skill = seen.mean / FURTHEST, _skill(told, seen)
    fault = "" if abs(float(told.mean()) - share) <= LARGEST_BIAS and skill > 0 else "miscalibrated"
    return Evaluation(
        measure=DAYS_LEFT,
        day=EPOCH + timedelta(days=panel.newest),
        recipe=RECIPE,
        fault=fault if found.auc.low > LEAST_AUC else "no_skill",
        auc=found.auc,
        lift=found.lift,
        rules=NOWHERE,
        brier_skill=skill,
        mean_probability=float(told.mean()),
        base_rate=share,
        ads=found.ads,
        top_ads=found.top_ads,
        rows=len(day),
        curve=_curve(told, seen),
    )


def followed(panel: Panel, day: Ints, ad: Ints) -> Seen:
    """What was seen of each ad from its landmark on."""
    column = day - panel.first
    worn_on, seen_to = panel.worn_on[ad], last(np.isfinite(panel.index))[ad]
    worn = (worn_on != NEVER) & (worn_on <= column + FURTHEST)
    return Seen(np.clip(np.where(worn, worn_on, seen_to) - column, 0, FURTHEST), np.asarray(worn))


def _stay(days: Ints, ended: Bools) -> Floats:
    """Kaplan-Meier: the share that has not ended by day 0, 1, ... ninety."""
    at_risk = len(days) - np.concatenate([[0], np.cumsum(np.bincount(days, minlength=FURTHEST + 1))[:-1]])
    ends = np.bincount(days[ended], minlength=FURTHEST + 1)
    return np.asarray(np.cumprod(1 - ends / np.maximum(at_risk, 1)))


def _skill(told: Floats, seen: Seen) -> float:
    """1 - squared error of the share told / that of the mean of all; above 0 is better than one number for every ad."""
    true, weight = seen.days / FURTHEST, seen.weights
    wrong = float((weight * (told - true) ** 2).sum())
    return 1 - wrong / float((weight * (seen.mean / FURTHEST - true) ** 2).sum())


def _curve(told: Floats, seen: Seen) -> tuple[tuple[float, float, int], ...]:
    """Mean share told, share seen and rows of each tenth of the rows, or of fewer parts where they are few."""
    order = np.argsort(told, kind="stable")
    parts = np.array_split(order, max(min(BINS, len(order) // LEAST_IN_BIN), 1))
    return tuple((float(told[part].mean()), seen.rows(part).mean / FURTHEST, len(part)) for part in parts)
