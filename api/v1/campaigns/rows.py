"""From sums in minor units to the figures a caller reads: money, ratios, nulls and zeros."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from api.money import amount, ratio
from api.served import CONVERSION_TYPES, OUTCOMES, REASONS
from data_contracts.formats import currency_digits

Sums = Mapping[str, Any]

NOTHING: Sums = {"cash_minor": 0, **dict.fromkeys(OUTCOMES, 0)}


def outcomes(sums: Sums, digits: int) -> dict[str, Any]:
    """Counts and cash of a set of conversions; a type with none is absent.

    `own` of the sums are the counts by the profile's own goals, which the columns of `OUTCOMES` count as well.
    """
    by_type = {name: sums[name] for name in CONVERSION_TYPES if sums[name]} | sums.get("own", {})
    return {
        "outcome_count": payments(sums),
        "outcome_value": amount(sums["cash_minor"], digits),
        "attributed_outcome_count": sum(by_type.values()),
        "attributed_outcomes_by_type": by_type,
    }


def payments(sums: Sums) -> int:
    """How many of the outcomes are cash."""
    return int(sums["payment_received"] + sums["custom_cash"])


def campaign_row(row: Sums, digits: int) -> dict[str, Any]:
    """A row without level. `roas` = outcome_value / spend."""
    return {
        "campaign_id": row["entity_id"],
        "campaign_name": row["name"],
        "platform": row["platform"],
        "platform_id": row["platform_id"],
        "spend": amount(row["spend_minor"], digits),
        "roas": ratio(row["cash_minor"], row["spend_minor"]),
        **outcomes(row, digits),
    }


def level_row(row: Sums, digits: int, level: str, reach: tuple[int, str] | None) -> dict[str, Any]:
    """A row with level. ctr is a percentage; cpm is per 1,000 impressions; costs are in the reporting currency."""
    spend, impressions, clicks, unit = row["spend_minor"], row["impressions"], row["clicks"], 10**digits
    return {
        **campaign_row(row, digits),
        "entity_level": level,
        "parent_name": row["parent_name"],
        "impressions": impressions,
        "clicks": clicks,
        "reach": reach[0] if reach else None,
        "reach_basis": reach[1] if reach else None,
        "ctr": ratio(100 * clicks, impressions),
        "avg_cpm": ratio(1000 * spend, unit * impressions),
        "avg_cpc": ratio(spend, unit * clicks),
        "cac": ratio(spend, unit * payments(row)),
        "status": row["status"],
        "objective": row["objective"],
        "daily_budget": _budget(row["daily_budget_minor"], row["budget_currency"]),
        "budget_currency": row["budget_currency"],
        "campaign_external_id": row["campaign_platform_id"],
        "ad_set_external_id": row["ad_set_platform_id"],
        "messaging_conversations_started_7d": row["conversations"],
    }


def trend_row(row: Sums, digits: int) -> dict[str, Any]:
    """One entity on one day."""
    return {
        "entity_id": row["entity_id"],
        "date": row["day"],
        "spend": amount(row["spend_minor"], digits),
        "impressions": row["impressions"],
        "clicks": row["clicks"],
    }


def unattributed_remainder(found: Mapping[str, Sums], digits: int, level: str) -> dict[str, Any]:
    """What no entity of the level received, by reason, beside the profile's total."""
    reasons = [(reason, found.get(reason, NOTHING)) for reason in REASONS]
    return {
        "entity_level": level,
        **outcomes(_total([sums for _, sums in reasons]), digits),
        "profile_total": outcomes(found.get("profile_total", NOTHING), digits),
        "by_reason": [{"reason": reason, **outcomes(sums, digits)} for reason, sums in reasons],
    }


def _total(parts: Sequence[Sums]) -> Sums:
    own: Counter[str] = Counter()
    for part in parts:
        own.update(part.get("own", {}))
    return {**{name: sum(part[name] for part in parts) for name in NOTHING}, "own": dict(sorted(own.items()))}


def _budget(minor: int | None, currency: str | None) -> float | None:
    if minor is None or currency is None:
        return None
    return amount(minor, currency_digits().get(currency, 2))
