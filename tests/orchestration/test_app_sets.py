"""Profiles and their calendar in the lake."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.db import transaction
from api.models import CreativeAnalysis, Profile
from orchestration.app_sets import DAY, EPOCH, FIRST_DAY, LAST_DAY, Stretch, land_app_sets, stretches
from orchestration.lake import Lake
from tests.orchestration.test_importer import PROFILE, with_profile

ZONES = [
    "UTC",
    "America/New_York",
    "Europe/Madrid",
    "America/Havana",
    "Pacific/Apia",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Africa/Cairo",
]


@cache
def known(zone: str) -> list[Stretch]:
    return list(stretches(zone))


@pytest.mark.parametrize("zone", ZONES)
def test_each_second_lies_in_exactly_one_stretch(zone: str) -> None:
    found = known(zone)
    assert (found[0][2], found[-1][3]) == (FIRST_DAY * DAY, LAST_DAY * DAY)
    assert all(before[3] == after[2] for before, after in itertools.pairwise(found))
    assert all(day * DAY <= start < end <= (day + 1) * DAY for day, _, start, end in found)


@settings(max_examples=300)
@given(st.sampled_from(ZONES), st.integers(FIRST_DAY * DAY, LAST_DAY * DAY - 1))
def test_a_second_has_the_date_that_clocks_in_the_zone_show(zone: str, second: int) -> None:
    (local_day,) = [day for _, day, start, end in known(zone) if start <= second < end]
    shown = datetime.fromtimestamp(second, UTC).astimezone(ZoneInfo(zone)).date()
    assert date.fromordinal(local_day + EPOCH) == shown


def test_a_date_that_a_zone_skipped_has_no_stretch() -> None:
    days = {date.fromordinal(day + EPOCH) for _, day, _, _ in known("Pacific/Apia")}
    assert date(2011, 12, 30) not in days
    assert {date(2011, 12, 29), date(2011, 12, 31)} <= days


def test_the_clock_turned_back_over_midnight_gives_the_older_date_twice() -> None:
    # Sao Paulo went from 00:00 back to 23:00 of the day before
    turned = datetime(2018, 2, 18, 2, tzinfo=UTC)
    around = [turned + timedelta(minutes=minutes) for minutes in (-1, 0, 59, 60)]
    found = [
        next(day for _, day, start, end in known("America/Sao_Paulo") if start <= moment.timestamp() < end)
        for moment in around
    ]
    assert [date.fromordinal(day + EPOCH).day for day in found] == [17, 17, 17, 18]


def test_profiles_and_the_calendar_of_their_zones_land_and_settle(database_url: str, home: Path) -> None:
    with_profile(database_url)
    lake = Lake(home / "lake")
    lake.prepare()
    first = land_app_sets(database_url, lake)
    assert [(one.dataset, one.batch, one.rows_quarantined) for one in first] == [
        ("profiles", "profiles", 0),
        ("own_hosts", "own_hosts", 0),
        ("payment_payers", "payment_payers", 0),
        ("creative_attributes", "creative_attributes", 0),
        ("goals", "goals", 0),
        ("goal_events", "goal_events", 0),
        ("calendar", "UTC", 0),
    ]
    assert [one.changed for one in land_app_sets(database_url, lake)] == [False] * 7
    with transaction(database_url) as session:
        session.get_one(Profile, PROFILE).timezone = "America/New_York"
    changed = [(one.batch, one.changed) for one in land_app_sets(database_url, lake)]
    assert [batch for batch, is_new in changed if is_new] == ["profiles", "America.New_York"]
    row = duckdb.execute(
        "select profile_id, time_zone, currency, currency_digits, is_active from read_parquet(?)", [str(first[0].path)]
    ).fetchall()
    assert row == [(PROFILE, "America/New_York", "USD", 2, True)]


def test_hosts_land_once_each_and_leave_when_they_are_taken_off_the_list(sqlite_url: str, home: Path) -> None:
    with_profile(sqlite_url)
    lake = Lake(home / "lake")
    lake.prepare()

    def landed(own: list[str], payment: list[str]) -> list[tuple[str, str]]:
        with transaction(sqlite_url) as session:
            profile = session.get_one(Profile, PROFILE)
            profile.own_domains, profile.payment_hosts = own, payment
        (hosts,) = [one for one in land_app_sets(sqlite_url, lake) if one.dataset == "own_hosts"]
        found = "select profile_id, host from read_parquet(?) where not _deleted order by host"
        return duckdb.execute(found, [str(hosts.path)]).fetchall()

    both = ["pay.example", "shop.example"]
    assert landed(["shop.example"], both) == [(PROFILE, host) for host in both]
    assert landed(["shop.example"], []) == [(PROFILE, "shop.example")]
    assert landed([], []) == []


def test_what_the_newest_analysis_of_a_creative_found_lands(sqlite_url: str, home: Path) -> None:
    with_profile(sqlite_url)
    lake = Lake(home / "lake")
    lake.prepare()
    found = {"hook_type": "question", "creative_format": "static", "offers": ["bundle"], "confidence": 0.5}
    at = datetime(2026, 3, 10, tzinfo=UTC)
    with transaction(sqlite_url) as session:
        for status, hash_, result, minute in (
            ("succeeded", "a", {**found, "hook_type": "number"}, 1),
            ("succeeded", "a", found, 2),
            ("failed", "a", None, 3),
            ("running", "b", None, 0),
        ):
            own = {"profile_id": PROFILE, "account": "k", "ad_id": "a", "ad_external_id": "1", "creative": {}}
            done = at + timedelta(minutes=minute)
            session.add(CreativeAnalysis(**own, status=status, creative_hash=hash_, result=result, finished_at=done))
    (landed,) = [one for one in land_app_sets(sqlite_url, lake) if one.dataset == "creative_attributes"]
    told = "select profile_id, creative_hash, hook_type, cta_type, offers, analysed_at from read_parquet(?)"
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        rows = connection.execute(told, [str(landed.path)]).fetchall()
    assert rows == [(PROFILE, "a", "question", None, '["bundle"]', rows[0][-1])]
    assert rows[0][-1].isoformat() == "2026-03-10T00:02:00+00:00"
