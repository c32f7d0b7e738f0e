"""The figures of a report: the queries of the API's own routes, all on one snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from api.served import ProfileFacts, Reader
from api.v1.analytics import queries as profile_queries
from api.v1.analytics import rows as profile_rows
from api.v1.campaigns import queries as entity_queries
from api.v1.campaigns import rows as entity_rows
from api.windows import DateRange, last_of_month

MODEL = "last_touch"
MOST_ROWS = 25

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Figures:
    """What a report tells: one window beside the one before it, its days, and its best entities of one level."""

    window: DateRange
    before: DateRange
    current: Row
    previous: Row
    days: Sequence[Row]
    entities: Sequence[Row]
    entities_total: int
    currency: str
    digits: int
    delivery_through: date | None
    snapshot_id: str
    month: DateRange
    month_days: Sequence[Row]
    monthly_budget: Decimal | None


def gather(
    reader: Reader, profile: ProfileFacts, window: DateRange, *, level: str, monthly_budget: Decimal | None
) -> Figures:
    """Everything a report of the window may show; `level` is campaign or ad."""
    days = len(window.days())
    before = DateRange(window.date_from - timedelta(days=days), window.date_from - timedelta(days=1))
    previous, current = profile_queries.two_windows(reader, profile, MODEL, before, window)
    of = entity_queries.Slice(window, level, MODEL)
    found = entity_queries.ranked_page(reader, profile, of, most=MOST_ROWS, after=None, campaign=None, ad_set=None)
    month = DateRange(window.date_to.replace(day=1), last_of_month(window.date_to))
    so_far = DateRange(month.date_from, window.date_to)
    return Figures(
        window=window,
        before=before,
        current=profile_rows.window_figures(window, current, profile.digits),
        previous=profile_rows.window_figures(before, previous, profile.digits),
        days=_days(reader, profile, window),
        entities=[entity_rows.level_row(row, profile.digits, level, None) for row in found],
        entities_total=found[0]["rows_total"] if found else 0,
        currency=profile.currency,
        digits=profile.digits,
        delivery_through=profile.delivery_through,
        snapshot_id=reader.snapshot_id,
        month=month,
        month_days=_days(reader, profile, so_far),
        monthly_budget=monthly_budget,
    )


def has_any(reader: Reader, profile: ProfileFacts, window: DateRange) -> bool:
    """Whether anything was spent or happened in the window."""
    found = profile_queries.by_day(reader, profile, MODEL, window).values()
    return any(part.minor or part.payments or part.outcomes for sums in found for part in sums.parts.values())


def _days(reader: Reader, profile: ProfileFacts, window: DateRange) -> list[Row]:
    found = profile_queries.by_day(reader, profile, MODEL, window)
    return [profile_rows.day_row(day, found.get(day, profile_queries.Sums()), profile.digits) for day in window.days()]
