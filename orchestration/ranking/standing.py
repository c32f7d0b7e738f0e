"""Whether a measure may be served, by every look at it: two passes four weeks apart, and none at chance since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from orchestration.ranking.evaluation import Evaluation

# a look a month: more looks pass more often on noise
APART = timedelta(days=28)
STALE_AFTER = timedelta(days=45)
CHANCE = 0.50
PROVEN = "out_of_time_skill"


@dataclass(frozen=True)
class Standing:
    """`reason` as the API tells it: PROVEN, else why values are withheld; `evaluated_on` is the newest look's day."""

    reason: str
    evaluated_on: date | None = None

    @property
    def served(self) -> bool:
        return self.reason == PROVEN


def standing(looks: Sequence[Evaluation], on: date, *, attempted: bool = True) -> Standing:
    """The standing on a day, from the looks of one measure under one recipe.

    Only looks of that day and before count. `attempted` says that a look was tried, so that without one there was too
    little history.
    """
    seen = sorted((look for look in looks if look.day <= on), key=lambda look: look.day)
    if not seen:
        return Standing("insufficient_history" if attempted else "unmeasured")
    newest = seen[-1]
    if not _proven(seen):
        return Standing(newest.fault or "pending_confirmation", newest.day)
    if newest.fault == "miscalibrated":
        return Standing("miscalibrated", newest.day)
    return Standing("stale" if on - newest.day > STALE_AFTER else PROVEN, newest.day)


def due(looks: Sequence[Evaluation], on: date) -> bool:
    """Whether the next look may be taken."""
    return all(on - look.day >= APART for look in looks)


def _proven(seen: Sequence[Evaluation]) -> bool:
    """Two passes in a row prove; a bound not above chance takes the proof away; what lies between changes nothing."""
    proven, first_pass = False, None
    for look in seen:
        if look.passed:
            first_pass = first_pass or look.day
            proven = proven or look.day - first_pass >= APART
        else:
            first_pass = None
            proven = proven and look.auc.low > CHANCE
    return proven
