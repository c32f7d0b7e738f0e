"""From stored studies to what a reader is told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import orjson

from api.money import amount
from api.reading_across import Built

DECIMALS = 8
_OWN = ("experiment_id", "platform", "platform_study_id", "name", "kind", "status", "start_date", "end_date")
_ARM = ("arm_id", "name", "role", "entity_level", "population", "conversions", "attributed_outcomes")


def row(
    study: Mapping[str, Any], profile: Built, arms: Mapping[str, list[dict[str, Any]]], built_at: datetime
) -> dict[str, Any]:
    """One study with its arms and both results."""
    return {
        **{name: study[name] for name in _OWN},
        "profile_id": profile.profile_id,
        "currency": profile.currency,
        "arms": [_arm(arm, profile.digits) for arm in arms.get(study["experiment_id"], [])],
        "service_result": _service_result(study, built_at),
        "platform_result": _platform_result(study),
    }


def _arm(arm: Mapping[str, Any], digits: int) -> dict[str, Any]:
    spend = arm["spend_minor"]
    return {
        **{name: arm[name] for name in _ARM},
        "entity_external_ids": orjson.loads(arm["entity_ids"]) if arm["entity_ids"] else [],
        "spend": None if spend is None else amount(spend, digits),
    }


def _service_result(study: Mapping[str, Any], built_at: datetime) -> dict[str, Any] | None:
    if study["lift"] is None:
        return None
    return {
        "lift": _rounded(study["lift"]),
        "ci_low": _rounded(study["ci_low"]),
        "ci_high": _rounded(study["ci_high"]),
        "conclusive": study["is_conclusive"],
        "winner_arm_id": study["winner_arm_id"],
        "computed_at": built_at,
    }


def _platform_result(study: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the platform concludes; without an interval it is conclusive where it names a winner."""
    lift, low, high = (study[f"platform_{name}"] for name in ("lift", "ci_low", "ci_high"))
    winner, at = study["platform_winner_arm_id"], study["platform_computed_at"]
    if lift is None and winner is None:
        return None
    is_bounded = low is not None and high is not None
    return {
        "lift": _rounded(lift),
        "ci_low": _rounded(low),
        "ci_high": _rounded(high),
        "conclusive": (low > 0 or high < 0) if is_bounded else winner is not None,
        "winner_arm_id": winner,
        # DuckDB's TIMESTAMP carries no zone; ours are UTC throughout
        "computed_at": at and at.replace(tzinfo=UTC),
    }


def _rounded(value: float | Decimal | None) -> float | None:
    return None if value is None else round(float(value), DECIMALS)
