"""From sums in minor units to the two sides of a comparison. Nothing here adds one side to the other."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from api.money import exact, ratio
from api.served import ProfileFacts

Sums = Mapping[str, Any]

LABELS = {"meta": "Meta", "google": "Google", "tiktok": "TikTok", "linkedin": "LinkedIn", "microsoft": "Microsoft"}
# claims carry four decimals: platforms split one conversion over several ads
_CLAIM_UNITS = 10_000


def platform_total(row: Sums, profile: ProfileFacts) -> dict[str, Any]:
    """All of one platform, its unassigned credit included."""
    return {
        "platform": row["platform"],
        "platform_label": LABELS.get(row["platform"], row["platform"].replace("_", " ").title()),
        "currency": profile.currency,
        **_sides(row, profile.digits),
        "reported_basis": row["reported_basis"],
        "has_delivery": row["has_delivery"],
        "delivery_through": row["delivery_through"],
        "unassigned_conversions": row["unassigned_conversions"],
        "unassigned_cash_revenue": exact(row["unassigned_cash_minor"], profile.digits),
    }


def entity_row(row: Sums, level: str, digits: int) -> dict[str, Any]:
    """One campaign, ad set or ad."""
    return {
        "platform": row["platform"],
        "platform_id": row["platform_id"],
        "entity_id": row["entity_id"],
        "entity_name": row["name"],
        "entity_level": level,
        "parent_name": row["parent_name"],
        **_sides(row, digits),
    }


def _sides(row: Sums, digits: int) -> dict[str, Any]:
    spend, value, cash = row["spend_minor"], row["platform_value_minor"], row["cash_minor"]
    return {
        "spend": exact(spend, digits),
        "platform_conversions": _number(row["platform_conversions"]),
        "platform_conversion_value": None if value is None else exact(value, digits),
        "service_conversions": row["conversions"],
        "service_cash_conversions": row["cash_conversions"],
        "service_cash_revenue": exact(cash, digits),
        **_gaps(row["conversions"], row["platform_conversions"]),
        "value_gap": None if value is None else exact(cash - value, digits),
        "platform_roas": None if value is None else ratio(value, spend),
        "service_roas": ratio(cash, spend),
    }


def _gaps(ours: int, theirs: Decimal | None) -> dict[str, float | None]:
    """Ours minus theirs, and that per hundred of theirs; null where the platform reported nothing."""
    if theirs is None:
        return {"conversion_gap": None, "conversion_gap_pct": None}
    units = int(theirs * _CLAIM_UNITS)
    gap = ours * _CLAIM_UNITS - units
    return {"conversion_gap": ratio(gap, _CLAIM_UNITS), "conversion_gap_pct": ratio(100 * gap, units)}


def _number(claimed: Decimal | None) -> float | None:
    return None if claimed is None else float(claimed)
