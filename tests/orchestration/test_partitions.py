"""Which days of delivery a run pulls."""

from __future__ import annotations

from datetime import date

from orchestration.partitions import DayRange, Known, days_ahead, days_to_pull

TODAY = date(2026, 11, 16)


def test_a_synced_account_is_pulled_for_the_days_that_may_still_be_revised() -> None:
    assert days_to_pull([Known(TODAY, TODAY)], now=TODAY) == DayRange(date(2026, 10, 20), TODAY)


def test_an_account_left_alone_for_a_month_is_pulled_from_before_its_gap() -> None:
    behind = Known(date(2026, 10, 1), TODAY)
    assert days_to_pull([behind], now=TODAY) == DayRange(date(2026, 9, 4), TODAY)


def test_a_new_account_is_pulled_for_its_history() -> None:
    assert days_to_pull([Known(None, TODAY, history_days=120)], now=TODAY) == DayRange(date(2026, 7, 20), TODAY)


def test_one_range_serves_every_account() -> None:
    accounts = [Known(TODAY, TODAY), Known(None, date(2026, 11, 10), history_days=60)]
    assert days_to_pull(accounts, now=TODAY) == DayRange(date(2026, 9, 12), TODAY)


def test_without_accounts_the_range_is_one_day() -> None:
    assert days_to_pull([], now=TODAY) == DayRange(TODAY, TODAY)


def test_the_range_never_begins_before_the_first_partition() -> None:
    assert days_to_pull([Known(None, date(2024, 2, 1))], now=TODAY).first == date(2024, 1, 1)


def test_the_hourly_run_pulls_three_days() -> None:
    assert days_to_pull([Known(TODAY, TODAY)], now=TODAY, revised_days=3).first == date(2026, 11, 14)


def test_a_demo_ahead_of_the_machine_has_partitions_for_its_days() -> None:
    assert days_ahead(date(2026, 11, 20), demo_today=TODAY) == 1
    assert days_ahead(date(2026, 11, 1), demo_today=TODAY) == 16


def test_a_range_is_one_run_by_its_tags() -> None:
    assert DayRange(date(2026, 11, 14), TODAY).tags == {
        "dagster/asset_partition_range_start": "2026-11-14",
        "dagster/asset_partition_range_end": "2026-11-16",
    }
