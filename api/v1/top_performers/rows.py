"""From a ranked ad to its row: one place for the profile's leaderboard, the workspace's, and GET /ads/{id}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from api.money import Unit, ratio
from api.v1.top_performers.queries import Found, Row
from api.v1.top_performers.terms import FATIGUE, LIFESPAN, LIKELIHOOD, TIER

# every figure of a row that is an amount of money, or tells one beside the others
MONEY = (
    "spend", "cpc", "attributed_revenue", "roas", "cac", "attributed_pipeline_value",
    "platform_reported_conversion_value", "cost_per_conversation",
)  # fmt: skip

_COPIED = (
    "maturity_stage", "truth_grade", "primary_outcome_kind", "cohort_key", "cohort_objective", "cohort_format",
    "cohort_audience_warmth", "cohort_n_ads", "hook_type", "creative_format", "cta_type", "primary_angle",
)  # fmt: skip
_NOT_APPLICABLE: Mapping[str, Any] = {
    "value": None, "label": None, "status": "not_applicable", "reason": "rules_only", "model_version": None,
}  # fmt: skip


def row(found: Found, unit: Unit) -> dict[str, Any]:
    """The whole row."""
    ad = found.ad
    return {
        "ad_id": ad["entity_id"],
        "platform": ad["platform"],
        "ad_external_id": ad["platform_id"],
        "ad_name": ad["name"],
        "campaign_name": ad["campaign_name"],
        "ad_set_name": ad["ad_set_name"],
        "creative_thumbnail_url": ad["thumbnail_url"],
        "video_id": ad["video_id"],
        **score(found, unit),
    }


def score(found: Found, unit: Unit) -> dict[str, Any]:
    """The same without what names the ad."""
    ad, likelihood = found.ad, found.likelihoods.get(LIKELIHOOD, _NOT_APPLICABLE)
    by_rules = likelihood["status"] == "not_applicable"
    return {
        "score_window": ad["score_window"],
        "composite_score": ad["score"],
        LIKELIHOOD: _told(LIKELIHOOD, likelihood),
        "model_version": None if by_rules else likelihood["model_version"],
        "score_source": "rules" if by_rules else "model",
        **{name: ad[name] for name in _COPIED},
        "offers": orjson.loads(ad["offers"]) if ad["offers"] else [],
        **_delivered(ad, unit),
        **_attributed(ad, unit),
        **_claimed(ad, unit),
        "avg_engagement_score": _decimals(ad["avg_engagement_score"], 1),
        **{name: _told(name, found.likelihoods.get(name, _NOT_APPLICABLE)) for name in FATIGUE},
        "reason_codes": [_reason(one) for one in found.reasons],
    }


def without_money(told: Mapping[str, Any]) -> dict[str, Any]:
    """The row with null in place of every figure of money."""
    return {**told, **dict.fromkeys(MONEY)}


def _delivered(ad: Row, unit: Unit) -> dict[str, Any]:
    return {
        "spend": unit.amount(ad["spend_minor"]),
        "impressions": ad["impressions"],
        "ctr": ratio(100 * ad["clicks"], ad["impressions"]),
        "cpc": unit.per(ad["spend_minor"], ad["clicks"]),
    }


def _attributed(ad: Row, unit: Unit) -> dict[str, Any]:
    payments, cash = ad["attributed_cash_outcomes"], ad["attributed_revenue_minor"]
    return {
        "attributed_cash_outcomes": payments,
        "attributed_revenue": unit.amount(cash),
        "roas": ratio(cash, ad["spend_minor"]),
        "cac": unit.per(ad["spend_minor"], payments),
        "attributed_outcomes_total": ad["attributed_outcomes_total"],
        "attributed_pipeline_outcomes": ad["attributed_pipeline_outcomes"],
        "attributed_pipeline_value": unit.amount(ad["attributed_pipeline_value_minor"]),
    }


def _claimed(ad: Row, unit: Unit) -> dict[str, Any]:
    claimed, started = ad["platform_reported_conversions"], ad["messaging_conversations_started"]
    replied = ad["messaging_first_replies"]
    return {
        "platform_reported_conversions": None if claimed is None else float(claimed),
        "platform_reported_conversion_value": unit.amount(ad["platform_reported_conversion_value_minor"]),
        "cost_per_conversation": unit.per(ad["spend_minor"], started),
        "messaging_conversations_started": started,
        "first_reply_rate": None if replied is None or started is None else ratio(replied, started),
    }


def _told(measure: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """{value, status, reason}: the value only where it is served, whatever the row holds."""
    value = None
    if row["status"] == "served":
        value = row["label"] if measure == TIER else _decimals(row["value"], 1 if measure == LIFESPAN else 4)
    return {"value": value, "status": row["status"], "reason": row["reason"]}


def _reason(row: Row) -> dict[str, Any]:
    return {
        "layer": row["layer"],
        "polarity": row["polarity"],
        "percentile": round(row["percentile"]),
        "sample_confidence": row["sample_confidence"],
    }


def _decimals(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
