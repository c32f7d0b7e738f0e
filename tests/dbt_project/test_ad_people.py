"""What ad-people answers equals sets of people, over random windows, scopes and groupings of worlds of three years."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import duckdb
import pytest

from api.reading import Source
from api.served import CHANNELS, ProfileFacts, profile_facts
from api.shelf import Shelf
from api.v1.attribution import ad_people_rows
from api.v1.attribution.ad_people_queries import GROUPINGS, Asked
from api.windows import DateRange
from orchestration.served_tables import served_tables
from tests.dbt_project import ad_people_worlds as worlds
from tests.dbt_project.ad_people_reference import answer
from tests.dbt_project.project import Project

LENGTHS = (0, 1, 6, 27, 30, 89, 365, 366)
FIGURES = ("ad_people", "ad_touches", "by_origin")


class Marts:
    """Reads the marts of a warehouse as the API reads a snapshot."""

    snapshot_id = "of the warehouse"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.remembered: dict[str, ProfileFacts | None] = {}
        self.shelf = Shelf(1)

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, dict(parameters or {})).fetchall()

    def columns(self, sql: str, parameters: Mapping[str, object] | None = None) -> dict[str, Any]:
        return dict(self.connection.execute(sql, dict(parameters or {})).fetchnumpy())

    def dicts(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        rows = self.rows(sql, parameters)
        names = [column[0] for column in self.connection.description or ()]
        return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def marts(credited: Project) -> Iterator[Marts]:
    with duckdb.connect(str(credited.settings.warehouse), read_only=True) as connection:
        connection.execute("use marts")
        yield Marts(connection)


def asked_of(marts: Marts, seed: int, asked: Asked, limit: int = 1_000) -> dict[str, Any]:
    facts = profile_facts(marts, worlds.profile_id(seed))
    assert facts
    return ad_people_rows.result(Source(marts, facts), asked, limit=limit, timezone="unused")


def random_window(random: Random) -> DateRange:
    first = worlds.BEGIN.date() + timedelta(days=random.randrange(-400, worlds.DAYS + 30))
    return DateRange(first, first + timedelta(days=random.choice(LENGTHS)))


def told(result: dict[str, Any]) -> dict[str, Any]:
    """The counts of an answer in the form of the reference."""
    buckets = [(bucket["key"], {name: bucket[name] for name in FIGURES}) for bucket in result["buckets"]]
    return {"totals": {name: result["totals"][name] for name in FIGURES}, "buckets": buckets}


@pytest.mark.parametrize("first_only", [False, True])
@pytest.mark.parametrize("group_by", GROUPINGS)
@pytest.mark.parametrize("seed", worlds.SEEDS)
def test_counts_are_those_of_sets_of_people(marts: Marts, seed: int, group_by: str, first_only: bool) -> None:
    random = Random(f"{seed} {group_by} {first_only}")
    _, truth = worlds.world(seed)
    somebody = 0
    for _ in range(25):
        window, channel = random_window(random), random.choice((None, *CHANNELS))
        wanted = answer(
            truth, window.date_from, window.date_to, group_by=group_by, channel=channel, first_only=first_only
        )
        assert told(asked_of(marts, seed, Asked(window, group_by, channel, first_only))) == wanted, (window, channel)
        somebody += wanted["totals"]["ad_people"]
    assert somebody > 0


def test_a_window_of_the_greatest_length_reaches_no_further_back_than_cells_remember(marts: Marts) -> None:
    _, truth = worlds.world(0)
    days = sorted({touch.day for touch in truth})
    for day in days[:: max(1, len(days) // 40)]:
        window = DateRange(day - timedelta(days=366), day)
        wanted = answer(truth, window.date_from, day, group_by="month", channel=None, first_only=False)
        assert told(asked_of(marts, 0, Asked(window, "month", None, False)))["totals"] == wanted["totals"]


@pytest.mark.parametrize("group_by", GROUPINGS)
def test_totals_lie_between_the_largest_bucket_and_the_sum_of_all(marts: Marts, group_by: str) -> None:
    window = DateRange(date(2024, 1, 1), date(2024, 12, 31))
    for first_only in (False, True):
        result = asked_of(marts, 1, Asked(window, group_by, None, first_only))
        people = [bucket["ad_people"] for bucket in result["buckets"]]
        total = result["totals"]["ad_people"]
        assert max(people) <= total <= sum(people)
        if first_only:
            assert total == sum(people) == result["totals"]["ad_touches"]
            assert all(bucket["ad_people"] == bucket["ad_touches"] for bucket in result["buckets"])


def test_buckets_of_time_follow_each_other_without_a_gap(marts: Marts) -> None:
    window = DateRange(date(2023, 12, 15), date(2024, 3, 10))
    for group_by in ("month", "day"):
        buckets = asked_of(marts, 0, Asked(window, group_by, None, False))["buckets"]
        assert (buckets[0]["start"], buckets[-1]["end"]) == (window.date_from, window.date_to)
        assert all(one["end"] + timedelta(days=1) == two["start"] for one, two in pairwise(buckets))


def test_ads_cut_at_the_limit_are_the_best_of_all(marts: Marts) -> None:
    asked = Asked(DateRange(date(2024, 1, 1), date(2024, 12, 31)), "ad", None, False)
    everything, two = asked_of(marts, 0, asked), asked_of(marts, 0, asked, limit=2)
    assert everything["buckets_total"] == two["buckets_total"] == len(worlds.ADS)
    assert two["buckets"] == everything["buckets"][:2]
    assert (everything["buckets_truncated"], two["buckets_truncated"]) == (False, True)
    assert two["totals"] == everything["totals"]


@pytest.mark.parametrize("table", ["people_cells", "people_cells_ad"])
def test_cells_lie_in_the_order_in_which_they_are_published(marts: Marts, table: str) -> None:
    grain = next(one.grain_list for one in served_tables() if one.name == table)
    rows = marts.rows(f"select {grain} from {table}")
    assert len({row[:3] for row in rows}) > 9
    assert rows == sorted(rows)
