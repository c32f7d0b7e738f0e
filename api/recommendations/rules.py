"""Which recommendations an ad's figures call for: pure functions, with every threshold here.

All ask for a score, and all but `consolidate` for one that is mature or calibrated. Percentiles are 0 to 100 within the
ad's cohort; the primary layer is the one an objective is paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# from the strongest: an ad has one open recommendation, and what loses money comes before what could earn more
KINDS = ("pause", "refresh", "scale", "fix_landing", "test_variant", "consolidate")

PRIMARY_LAYERS: Mapping[str, str] = {
    "sales": "attributed_revenue",
    "leads": "attributed_pipeline",
    "messaging": "postclick_messaging",
    "traffic": "click_intent",
    "awareness": "delivery",
}
# what somebody does who has followed the ad; all else is over before a page is seen
AFTER_THE_CLICK = frozenset({"attributed_revenue", "attributed_pipeline", "postclick_messaging"})
WORN = frozenset({"high", "critical"})
MATURE = frozenset({"mature", "calibrated"})

WINNING, LOSING = 75, 25
STRONG, WEAK = 65, 35
# response per spend over the ad's own baseline
WORN_INDEX = 0.67
# shares of spend above twice the fair one are large already
FAIR_SHARES = 2
COLD_DAYS = 14


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of an ad's score; `confidence` is low, medium or high."""

    percentile: float
    confidence: str


@dataclass(frozen=True, slots=True)
class Budget:
    """A daily budget that a recommendation may suggest to change: of which entity, in minor units of `currency`."""

    level: str
    entity_id: str
    minor: int
    currency: str


@dataclass(frozen=True, slots=True)
class Ad:
    """What a snapshot says of one running ad over 28 days.

    `share` is its share of the spend on its channel and objective, `fair_share` that of an ad among as many that
    spent. `fatigue_tier` and `response_index` are null where they are not known; `spend_minor` is in the profile's
    currency.
    """

    entity_id: str
    external_id: str
    name: str | None
    platform: str
    composite: float | None
    stage: str
    objective: str
    delivery_days: int
    spend_minor: int
    share: float | None
    fair_share: float | None
    fatigue_tier: str | None = None
    response_index: float | None = None
    layers: Mapping[str, Layer] = field(default_factory=dict)
    budget: Budget | None = None

    @property
    def primary_layer(self) -> str | None:
        return PRIMARY_LAYERS.get(self.objective)

    @property
    def primary(self) -> Layer | None:
        """Its primary layer, where it has one."""
        return self.layers.get(self.primary_layer or "")

    def at_least(self, layer: str, percentile: float) -> bool:
        return layer in self.layers and self.layers[layer].percentile >= percentile

    def at_most(self, layer: str, percentile: float) -> bool:
        return layer in self.layers and self.layers[layer].percentile <= percentile


def called_for(ad: Ad) -> list[str]:
    """The kinds whose rule holds, from the strongest."""
    return [kind for kind in KINDS if _RULES[kind](ad)]


def _pause(ad: Ad) -> bool:
    sure = ad.primary is not None and ad.primary.confidence == "high"
    return ad.stage == "calibrated" and ad.composite is not None and ad.composite <= LOSING and sure


def _is_worn(ad: Ad) -> bool:
    return ad.fatigue_tier in WORN or (ad.response_index is not None and ad.response_index <= WORN_INDEX)


def _refresh(ad: Ad) -> bool:
    return ad.stage in MATURE and _is_worn(ad)


def _scale(ad: Ad) -> bool:
    if ad.stage not in MATURE or ad.composite is None or ad.composite < WINNING or ad.fatigue_tier in WORN:
        return False
    return ad.share is not None and ad.fair_share is not None and ad.share < FAIR_SHARES * ad.fair_share


def _fix_landing(ad: Ad) -> bool:
    clicked = ad.at_least("click_intent", STRONG)
    primary = ad.primary_layer or ""
    return ad.stage in MATURE and clicked and primary in AFTER_THE_CLICK and ad.at_most(primary, WEAK)


def _test_variant(ad: Ad) -> bool:
    unseen = ad.at_most("attention", WEAK)
    return ad.stage in MATURE and unseen and ad.at_least(ad.primary_layer or "", STRONG)


def _consolidate(ad: Ad) -> bool:
    # without a score an ad is cold however much data it has: it lacks an objective of ours, or ads to compare it with
    return ad.stage == "cold" and ad.composite is not None and ad.delivery_days >= COLD_DAYS


_RULES: Mapping[str, Callable[[Ad], bool]] = {
    "pause": _pause,
    "refresh": _refresh,
    "scale": _scale,
    "fix_landing": _fix_landing,
    "test_variant": _test_variant,
    "consolidate": _consolidate,
}
