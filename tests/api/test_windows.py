"""Windows of dates: every way to be wrong is invalid_date_range (tests of the routes), and what a good one loads as."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from marshmallow import ValidationError

from api import errors
from api.windows import DateRange, DateRangeQuery, OptionalDateRangeQuery


def _load(first: str, last: str) -> DateRange:
    loaded = DateRangeQuery().load({"date_from": first, "date_to": last})
    assert isinstance(loaded, DateRange)
    return loaded


def test_both_ends_belong_to_the_window() -> None:
    assert _load("2026-02-27", "2026-03-01").days() == [date(2026, 2, 27), date(2026, 2, 28), date(2026, 3, 1)]


def test_366_days_from_first_to_last_is_the_longest() -> None:
    assert len(_load("2025-03-01", "2026-03-02").days()) == 367
    with pytest.raises(ValidationError, match="more than 366 days"):
        _load("2025-03-01", "2026-03-03")


def test_the_window_refuses_under_its_own_code() -> None:
    assert DateRangeQuery.error_code is errors.INVALID_DATE_RANGE


@pytest.mark.parametrize(
    "value", [20260101, None, True, ["2026-01-01"], "20260101", "2026-W01-4", "2026-01-01T00:00", "2025-02-29", ""]
)
def test_what_is_no_date_written_so_is_refused_as_one(value: object) -> None:
    with pytest.raises(ValidationError):
        DateRangeQuery().load({"date_from": value, "date_to": "2026-01-31"})


def test_a_wrong_order_is_told_of_date_to() -> None:
    with pytest.raises(ValidationError) as refusal:
        _load("2026-03-02", "2026-03-01")
    assert refusal.value.normalized_messages() == {"date_to": ["is before date_from"]}


def test_months_follow_each_other_clipped_to_the_window_up_to_the_last_day_there_is() -> None:
    window = _load("2024-02-10", "2024-04-30")
    assert list(window.months()) == [
        DateRange(date(2024, 2, 10), date(2024, 2, 29)),
        DateRange(date(2024, 3, 1), date(2024, 3, 31)),
        DateRange(date(2024, 4, 1), date(2024, 4, 30)),
    ]
    assert [month.is_whole_months() for month in window.months()] == [False, True, True]
    assert not _load("2024-02-01", "2024-02-28").is_whole_months()
    assert list(_load("9999-12-02", "9999-12-31").months()) == [DateRange(date(9999, 12, 2), date(9999, 12, 31))]
    assert list(_load("2024-02-29", "2024-02-29").months()) == [DateRange(date(2024, 2, 29), date(2024, 2, 29))]


def test_a_day_begins_and_ends_by_its_zone_as_far_as_there_are_instants() -> None:
    assert _load("2026-03-08", "2026-03-08").instants("America/New_York") == (
        datetime(2026, 3, 8, 5, tzinfo=UTC),
        datetime(2026, 3, 9, 4, tzinfo=UTC),
    )
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        assert _load("9999-12-31", "9999-12-31").instants(zone)[1] == last
    assert _load("9999-12-30", "9999-12-30").instants("UTC")[1] == datetime(9999, 12, 31, tzinfo=UTC)
    assert _load("0001-01-01", "0001-01-01").instants("Asia/Tokyo")[0] == first
    assert _load("0001-01-01", "0001-01-01").instants("America/New_York")[0] > first


def test_an_optional_window_is_both_dates_or_neither() -> None:
    both = {"date_from": "2026-03-01", "date_to": "2026-03-01"}
    assert OptionalDateRangeQuery().load(both) == DateRange(date(2026, 3, 1), date(2026, 3, 1))
    assert OptionalDateRangeQuery().load({}) is None
    for missing in both:
        rest = {name: day for name, day in both.items() if name != missing}
        with pytest.raises(ValidationError) as refusal:
            OptionalDateRangeQuery().load(rest)
        assert refusal.value.normalized_messages() == {missing: ["is required with the other date"]}


def test_a_required_window_names_the_date_that_is_missing() -> None:
    with pytest.raises(ValidationError) as refusal:
        DateRangeQuery().load({"date_to": "2026-03-01"})
    assert refusal.value.normalized_messages() == {"date_from": ["is required, as YYYY-MM-DD"]}
