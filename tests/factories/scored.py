"""Served tables of one profile with scored ads, for what reads scores."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from api.models import Profile
from tests.factories import served
from touchledger.settings import Settings

THROUGH = date(2026, 3, 28)
# of a layer, by the confidence that it has with the limits below
RELIABILITIES = {"low": 0.2, "medium": 0.6, "high": 0.9}
LIMITS = {"confidence_low_below": 0.5, "confidence_medium_below": 0.8}


def ad_id(key: int) -> str:
    """The id of the ad with that entity key."""
    return f"{key:08d}-0000-8000-8000-000000000000"


class Scored:
    """A profile's ads in one ad set of 9.00 a day; publish after every change."""

    def __init__(self, settings: Settings, profile: Profile) -> None:
        self.settings = settings
        self.token = 0
        facts = {"time_zone": "UTC", "currency": "USD", "currency_digits": 2, "settings_version": "v"}
        self.rows: dict[str, list[dict[str, Any]]] = {
            "profiles": [{"profile_key": 1, "profile_id": profile.id, **facts}],
            "entities": [
                {"profile_key": 1, "entity_key": 900, "level": "campaign", "entity_id": ad_id(900), "platform": "meta"},
                {
                    "profile_key": 1, "entity_key": 901, "level": "ad_set", "entity_id": ad_id(901), "platform": "meta",
                    "platform_id": "901", "campaign_key": 900, "daily_budget_minor": 900, "budget_currency": "EUR",
                },
            ],
            "ad_scores": [],
            "ad_score_layers": [],
            "ad_likelihoods": [],
            "delivery_daily": [],
        }  # fmt: skip

    def ad(
        self,
        key: int,
        score: float | None,
        *,
        layers: Mapping[str, tuple[float, str]] | None = None,
        status: str = "ACTIVE",
        last_day: date = THROUGH,
        tier: str | None = None,
        **scored: Any,
    ) -> None:
        """An ad that delivered on the ten days up to `last_day`."""
        own = {"profile_key": 1, "entity_key": key}
        named = {"entity_id": ad_id(key), "platform": "meta", "platform_id": str(key), "name": f"Ad {key}"}
        under = {"ad_set_key": 901, "campaign_key": 900}
        self.rows["entities"].append({**own, **named, **under, "level": "ad", "status": status})
        plain: dict[str, Any] = {
            "score_window": "28d", "score_date": THROUGH, "day_from": THROUGH - timedelta(days=27),
            "maturity_stage": "calibrated", "cohort_objective": "sales", "cohort_channel": "meta", "spend_minor": 1000,
            "delivery_days": 20,
        }  # fmt: skip
        self.rows["ad_scores"].append({**own, **plain, "composite_score": score, **scored})
        figures = dict(LIMITS)
        for layer, (percentile, confidence) in (layers or {}).items():
            figures |= {f"{layer}_percentile": percentile, f"{layer}_reliability": RELIABILITIES[confidence]}
        self.rows["ad_score_layers"].append({**own, "score_window": "28d", **figures})
        if tier:
            told = {"measure": "fatigue_risk_tier", "label": tier, "status": "served", "reason": "out_of_time_skill"}
            self.rows["ad_likelihoods"].append({**own, "score_window": "28d", **told})
        self.deliver(key, last_day, days=10, clicks=1)

    def deliver(self, key: int, until: date, *, days: int, clicks: int, spend_minor: int = 100) -> None:
        """Delivery of an ad on each of the days up to `until`."""
        for n in range(days):
            one = {"profile_key": 1, "entity_key": key, "level": "ad", "day": until - timedelta(days=n)}
            self.rows["delivery_daily"].append({**one, "impressions": 10, "clicks": clicks, "spend_minor": spend_minor})

    def without(self, key: int) -> None:
        """Take an ad out again."""
        for rows in self.rows.values():
            rows[:] = [row for row in rows if row.get("entity_key") != key]

    def publish(self) -> str:
        """A new snapshot; gives its id."""
        self.token += 1
        return served.publish(self.settings.published, self.rows, token=self.token)
