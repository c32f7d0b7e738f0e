"""Windows of calendar dates, both ends inclusive."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from marshmallow import Schema, ValidationError, fields, post_load

from api import errors

MOST_DAYS = 366
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class DateRange:
    """`date_from` to `date_to`, both inclusive."""

    date_from: date
    date_to: date

    def days(self) -> list[date]:
        """Every day of the window, in order."""
        return [self.date_from + timedelta(days=n) for n in range((self.date_to - self.date_from).days + 1)]

    def instants(self, zone: str) -> tuple[datetime, datetime]:
        """When its first day begins in a time zone and when its last one is over, in UTC; the second is not in it.

        An end for which there is no such instant is the first, or the last, that there is.
        """
        begin = _midnight(self.date_from, zone, days=0, instead=EARLIEST)
        return begin, _midnight(self.date_to, zone, days=1, instead=LATEST)

    def months(self) -> Iterator[DateRange]:
        """Each calendar month of the window in order, clipped to it."""
        start = self.date_from
        while (end := last_of_month(start)) < self.date_to:
            yield DateRange(start, end)
            start = end + timedelta(days=1)
        yield DateRange(start, self.date_to)

    def is_whole_months(self) -> bool:
        """Whether it begins with a month and ends with one."""
        return self.date_from.day == 1 and self.date_to == last_of_month(self.date_to)


def _midnight(day: date, zone: str, *, days: int, instead: datetime) -> datetime:
    """When a day so many days later begins."""
    try:
        return datetime.combine(day + timedelta(days=days), time.min, ZoneInfo(zone)).astimezone(UTC)
    except OverflowError:
        return instead


def last_of_month(day: date) -> date:
    """Last day of the calendar month that `day` is in."""
    return day.replace(day=monthrange(day.year, day.month)[1])


class CalendarDate(fields.Date):
    """A real date written YYYY-MM-DD, not before (nor more than 366 days after) the one named by `since`."""

    def __init__(self, description: str, since: str | None = None, *, required: bool = True) -> None:
        super().__init__(
            required=required,
            error_messages={"required": "is required, as YYYY-MM-DD"},
            metadata={"description": description},
        )
        self.since = since

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> date:
        day = _parsed(value)
        if self.since and self.since in data:
            _check_span(_parsed(data[self.since]), day)
        return day


class DateRangeQuery(Schema):
    """The window of a date-ranged read; loads a DateRange, and refuses everything else with invalid_date_range."""

    error_code = errors.INVALID_DATE_RANGE

    date_from = CalendarDate("First day of the window.")
    date_to = CalendarDate("Last day of the window, included; at most 366 days after the first.", since="date_from")

    @post_load
    def _window(self, data: Mapping[str, Any], **_: Any) -> DateRange:
        return DateRange(data["date_from"], data["date_to"])


class OptionalDateRangeQuery(Schema):
    """The same where a read has a window of its own: both dates or neither; loads a DateRange or None."""

    error_code = errors.INVALID_DATE_RANGE

    date_from = CalendarDate("First day of the window; send date_to with it.", required=False)
    date_to = CalendarDate("Last day of the window, included; send date_from with it.", "date_from", required=False)

    @post_load
    def _window(self, data: Mapping[str, Any], **_: Any) -> DateRange | None:
        if len(data) == 1:
            (given,) = data
            raise ValidationError("is required with the other date", "date_to" if given == "date_from" else "date_from")
        return DateRange(data["date_from"], data["date_to"]) if data else None


def _parsed(value: object) -> date:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise ValidationError("must be a date written YYYY-MM-DD")
    try:
        return date.fromisoformat(value)
    except ValueError as unreal:
        raise ValidationError("is not a real date") from unreal


def _check_span(first: date, last: date) -> None:
    if first > last:
        raise ValidationError("is before date_from")
    if (last - first).days > MOST_DAYS:
        raise ValidationError(f"is more than {MOST_DAYS} days after date_from")
