"""From sums in minor units to the figures of the overview and of a day."""

from __future__ import annotations

from datetime import date
from typing import Any

from api.money import amount, ratio
from api.served import REASONS
from api.v1.analytics.queries import Amounts, Sums
from api.windows import DateRange

UNPAID = ("other_channel", "direct")


def window_figures(window: DateRange, sums: Sums, digits: int) -> dict[str, Any]:
    """One window; roas and cac set spend against what campaigns were credited with."""
    everything, credited, spend = sums.of("all"), sums.attributed, sums.of("spend").minor
    return {
        "date_from": window.date_from,
        "date_to": window.date_to,
        "spend": amount(spend, digits),
        "revenue": amount(credited.minor, digits),
        "cash_revenue": amount(everything.minor, digits),
        "cash_payments": everything.payments,
        "organic_direct_revenue": amount(sums.of(*UNPAID).minor, digits),
        "roas": ratio(credited.minor, spend),
        "cac": ratio(spend, 10**digits * credited.payments),
        "outcomes": everything.outcomes,
        "attributed_outcomes": credited.outcomes,
        "coverage_percent": ratio(100 * credited.outcomes, everything.outcomes),
        "coverage": {
            "attributed": _part(credited, everything.outcomes, digits),
            "by_reason": [
                {"reason": reason, **_part(sums.of(reason), everything.outcomes, digits)} for reason in REASONS
            ],
        },
    }


def day_row(day: date, sums: Sums, digits: int) -> dict[str, Any]:
    """One day."""
    everything = sums.of("all")
    return {
        "date": day,
        "spend": amount(sums.of("spend").minor, digits),
        "revenue": amount(sums.attributed.minor, digits),
        "cash_revenue": amount(everything.minor, digits),
        "cash_payments": everything.payments,
        "outcomes": everything.outcomes,
    }


def _part(of: Amounts, outcomes: int, digits: int) -> dict[str, Any]:
    return {
        "outcomes": of.outcomes,
        "cash_payments": of.payments,
        "cash_revenue": amount(of.minor, digits),
        "percent": ratio(100 * of.outcomes, outcomes),
    }
