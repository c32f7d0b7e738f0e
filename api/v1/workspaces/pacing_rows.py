"""From a month's sums to what a reader is told: pace, projection, status, totals. Minor units and fractions only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from api.models import Profile
from api.money import Unit, amount, ratio
from api.v1.workspaces.pacing_queries import RECENT, Facts, Sums
from api.windows import DateRange
from data_contracts.formats import currency_digits

UNDER, OVER = Fraction(9, 10), Fraction(11, 10)


@dataclass(frozen=True)
class Paced:
    """One profile's month, before it is told; `budget_minor` only where it is in the figures' currency."""

    profile: Profile
    time_zone: str
    currency: str
    digits: int
    through: date | None
    elapsed: int
    budget_minor: int | None
    sums: Sums


def paced(profile: Profile, facts: Facts | None, sums: Sums, month: DateRange) -> Paced:
    """A profile beside its sums; one that the snapshot does not know has no figures yet."""
    # until a snapshot follows a change, its figures are counted in the days and the money of before
    zone = facts.time_zone if facts else profile.timezone
    currency = facts.currency if facts else profile.reporting_currency
    digits = facts.digits if facts else currency_digits()[currency]
    through = facts.delivery_through if facts else None
    elapsed = (min(through, month.date_to) - month.date_from).days + 1 if through else 0
    budget = profile.monthly_budget if profile.reporting_currency == currency else None
    minor = None if budget is None else round(Fraction(budget) * 10**digits)
    return Paced(profile, zone, currency, digits, through, max(elapsed, 0), minor, sums)


def row(one: Paced, month: DateRange) -> dict[str, Any]:
    """One profile's row."""
    days, sums, digits = len(month.days()), one.sums, one.digits
    due = None if one.budget_minor is None else Fraction(one.budget_minor * one.elapsed, days)
    return {
        "profile_id": one.profile.id,
        "profile_name": one.profile.name,
        "currency": one.currency,
        "timezone": one.time_zone,
        "month": f"{month.date_from:%Y-%m}",
        "days_in_month": days,
        "days_elapsed": one.elapsed,
        "delivery_through": one.through,
        "budget": _money(one.budget_minor, digits),
        "spend_mtd": amount(sums.spend_minor, digits),
        "expected_spend": None if due is None else amount(round(due), digits),
        "pace": None if not due else ratio(sums.spend_minor * due.denominator, due.numerator),
        "projected_spend": _money(_projected(one, days), digits),
        "status": _status(sums.spend_minor, due),
        "cash_outcomes_mtd": sums.payments,
        "outcomes_mtd": sums.conversions,
        "revenue_mtd": amount(sums.cash_minor, digits),
        "roas": ratio(sums.cash_minor, sums.spend_minor),
        "outcome_target": one.profile.outcome_target,
    }


def totals(found: Sequence[Paced], currency: str, units: Mapping[str, Unit]) -> dict[str, Any]:
    """Sums in the workspace's currency, each rounded once; money is null where a profile's has no rate into it."""
    payments = sum(one.sums.payments for one in found)
    # nothing is nothing in every currency: a profile without any money yet needs no rate
    counted = [one for one in found if one.sums.spend_minor or one.sums.cash_minor or one.budget_minor]
    worth = {one.currency: units[one.currency].worth for one in counted}
    if None in worth.values():
        unknown = dict.fromkeys(("budget", "spend_mtd", "revenue_mtd", "roas"))
        return {**unknown, "cash_outcomes_mtd": payments, "reason": "currencies_differ"}
    digits = currency_digits()[currency]

    def added(amounts: Iterable[tuple[Paced, int]]) -> Fraction:
        return sum((minor * (worth[one.currency] or Fraction(0)) for one, minor in amounts), Fraction(0))

    has_budget = any(one.budget_minor is not None for one in found)
    budget = added((one, one.budget_minor or 0) for one in counted)
    spend = added((one, one.sums.spend_minor) for one in counted)
    cash = added((one, one.sums.cash_minor) for one in counted)
    return {
        "budget": float(round(budget, digits)) if has_budget else None,
        "spend_mtd": float(round(spend, digits)),
        "cash_outcomes_mtd": payments,
        "revenue_mtd": float(round(cash, digits)),
        "roas": ratio(cash.numerator * spend.denominator, cash.denominator * spend.numerator),
        "reason": None,
    }


def _projected(one: Paced, days: int) -> int | None:
    if one.through is None:
        return None
    return round(one.sums.spend_minor + Fraction(one.sums.recent_minor * (days - one.elapsed), RECENT))


def _status(spend_minor: int, due: Fraction | None) -> str:
    if due is None:
        return "no_budget"
    if spend_minor < UNDER * due:
        return "under"
    return "over" if spend_minor > OVER * due else "on_track"


def _money(minor: int | Decimal | None, digits: int) -> float | None:
    return None if minor is None else amount(int(minor), digits)
