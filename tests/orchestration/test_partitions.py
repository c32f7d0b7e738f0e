"""Which days of delivery a run pulls."""

from __future__ import annotations

from datetime import date

from orchestration.partitions import DayRange, Known, days_ahead, days_to_pull

TODAY = date(2026, 11, 16)
HOURLY = DayRange(date(2026, 11, 14), TODAY)


def test_a_run_is_over_the_days_that_may_still_be_revised_whatever_an_account_lacks() -> None:
    assert days_to_pull([TODAY, date(2026, 11, 10)], now=TODAY) == DayRange(date(2026, 10, 20), TODAY)


def test_the_hourly_run_pulls_three_days() -> None:
    assert days_to_pull([TODAY], now=TODAY, revised_days=3) == HOURLY


def test_without_accounts_the_range_is_one_day() -> None:
    assert days_to_pull([], now=TODAY) == DayRange(TODAY, TODAY)


def test_the_range_never_begins_before_the_first_partition() -> None:
    early = date(2024, 1, 20)
    assert days_to_pull([early], now=TODAY).first == date(2024, 1, 1)
    assert Known(None, early).wanted(DayRange(early, early)).first == date(2024, 1, 1)


def test_an_account_that_lacks_nothing_before_a_run_is_asked_for_the_runs_days() -> None:
    for through in (TODAY, date(2026, 11, 13)):
        assert Known(through, TODAY).wanted(HOURLY) == HOURLY
    earlier = DayRange(date(2026, 3, 1), date(2026, 3, 31))
    assert Known(TODAY, TODAY).wanted(earlier) == earlier


def test_an_account_that_is_revised_for_longer_is_asked_for_all_of_it_by_the_nightly_run_alone() -> None:
    google = Known(TODAY, TODAY, revised_days=90)
    nightly = days_to_pull([TODAY], now=TODAY)
    assert google.wanted(nightly) == DayRange(date(2026, 8, 19), TODAY)
    assert google.wanted(HOURLY) == HOURLY
    backfill = DayRange(date(2026, 1, 1), date(2026, 3, 31))
    assert google.wanted(backfill) == backfill
    assert google.wanted(DayRange(date(2026, 1, 1), TODAY)).first == date(2026, 1, 1)
    behind = Known(date(2026, 10, 1), TODAY, revised_days=90)
    assert behind.wanted(HOURLY) == DayRange(date(2026, 7, 4), TODAY)


def test_an_account_left_alone_for_a_month_is_pulled_from_before_its_gap() -> None:
    behind = Known(date(2026, 10, 1), TODAY)
    assert behind.wanted(HOURLY) == behind.wanted(DayRange(TODAY, TODAY)) == DayRange(date(2026, 9, 4), TODAY)


def test_a_new_account_is_pulled_for_its_history_by_any_run() -> None:
    new = Known(None, TODAY, history_days=120)
    for days in (HOURLY, DayRange(TODAY, TODAY), DayRange(date(2026, 8, 1), date(2026, 8, 2))):
        assert new.wanted(days) == DayRange(date(2026, 7, 20), TODAY)
    assert new.wanted(DayRange(date(2026, 5, 1), date(2026, 5, 2))) == DayRange(date(2026, 5, 1), TODAY)


def test_an_account_where_a_runs_days_have_not_begun_is_asked_for_its_newest_ones() -> None:
    june = date(2026, 6, 10)
    assert Known(june, june).wanted(HOURLY) == DayRange(date(2026, 6, 8), june)


def test_days_that_somebody_asked_for_reach_from_them_to_the_runs_days() -> None:
    known = Known(TODAY, TODAY)
    asked = known.widened(HOURLY, date(2026, 2, 1), date(2026, 2, 3))
    assert asked == DayRange(date(2026, 2, 1), HOURLY.last)
    assert known.widened(HOURLY, None, None) == HOURLY
    assert known.widened(HOURLY, HOURLY.first, date(2026, 12, 31)) == DayRange(HOURLY.first, date(2026, 12, 31))


def test_days_that_no_platform_keeps_any_more_are_not_asked_for() -> None:
    # Meta refuses a range that begins more than 37 months back, and with it came none of the run's own days
    known = Known(TODAY, TODAY)
    assert known.widened(HOURLY, date(1999, 1, 1), date(1999, 1, 3)) == HOURLY
    assert known.widened(HOURLY, date(1999, 1, 1), TODAY).first == date(2024, 1, 1)
    later = date(2027, 11, 16)
    assert Known(later, later).widened(HOURLY, date(2024, 1, 1), later).first == date(2024, 11, 16)


def test_a_demo_ahead_of_the_machine_has_partitions_for_its_days() -> None:
    assert days_ahead(date(2026, 11, 20), demo_today=TODAY) == 2
    assert days_ahead(date(2026, 11, 1), demo_today=TODAY) == 16


def test_a_range_is_one_run_by_its_tags() -> None:
    assert DayRange(date(2026, 11, 14), TODAY).tags == {
        "dagster/asset_partition_range_start": "2026-11-14",
        "dagster/asset_partition_range_end": "2026-11-16",
    }
