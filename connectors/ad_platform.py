"""What any ad platform must offer, whatever its wire protocol looks like."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any, Protocol

Row = dict[str, Any]
Window = tuple[date, date]


class AdPlatform(Protocol):
    """One ad account. Rows carry the columns of the inbound contracts; every method may raise a ConnectorError."""

    platform: str

    def entities(self) -> dict[str, list[Row]]:
        """The latest state of everything, by data set: ad_accounts, campaigns, ad_sets, ads, creatives."""

    def delivery(self, day_from: date, day_to: date) -> Iterator[tuple[date, list[Row]]]:
        """Every day of the closed range, in order, with its ad_delivery rows.

        A day is yielded only when all its rows are there; a day without delivery comes with an empty list.
        """

    def reach(self, windows: Iterable[Window]) -> Iterator[Row]:
        """entity_reach rows: the platform's deduplicated reach of exactly each window, for every level."""


def reach_windows(day_from: date, day_to: date) -> list[Window]:
    """The windows whose reach is kept for a range: each day, the 7 and 28 days ending on it, and its months.

    A month that is not over ends on `day_to`.
    """
    days = [day for day, _ in days_of(day_from, day_to)]
    trailing = [(day - timedelta(days=length - 1), day) for length in (1, 7, 28) for day in days]
    months = {}
    for day in days:
        last = day.replace(day=calendar.monthrange(day.year, day.month)[1])
        months[day.replace(day=1)] = min(last, day_to)
    return sorted({*trailing, *months.items()})


def days_of(day_from: date, day_to: date) -> list[Window]:
    """Each day of the closed range, as a window of its own."""
    count = (day_to - day_from).days + 1
    return [(day, day) for day in (day_from + timedelta(days=offset) for offset in range(count))]


def chunks(day_from: date, day_to: date, length: int) -> Iterator[Window]:
    """The closed range in consecutive windows of at most `length` days."""
    start = day_from
    while start <= day_to:
        stop = min(day_to, start + timedelta(days=length - 1))
        yield start, stop
        start = stop + timedelta(days=1)
