"""Counts of people by ad, from cells that are kept or from their sums, are those of the touches themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from random import Random

import duckdb
import pytest

from api.served import ORIGINS
from api.v1.attribution import ad_people_queries as queries
from api.v1.attribution import kept_ads, kept_cells
from api.v1.attribution.ad_people_queries import NOBODY, Asked, Count
from api.windows import DateRange
from tests.api.v1.attribution.test_kept_cells import BEGIN, CHANNELS, PROFILE, Touch, cells_of, firsts_of, touches
from tests.api.v1.attribution.test_kept_cells import counted as counted_by_origin
from tests.fixtures.counting_reader import CountingReader

NEVER = date(1, 1, 1)
# ad keys in no order of their ids; an ad of another profile carries an id of this one's
IDS = {70: "120", 3: "121", 41: "13", 5: "2"}
ELSEWHERE = 6


class Reader(CountingReader):
    """The served tables that touches of ads make, beside those of another profile."""

    def __init__(self, by_ad: dict[int, list[Touch]], *, mebibytes: int) -> None:
        super().__init__(duckdb.connect(), mebibytes=mebibytes)
        columns = (
            "profile_key int, channel text, origin text, ad_key bigint, {day} date, prev date, people int, touches int"
        )
        self.connection.execute(
            f"create table people_cells_ad ({columns.format(day='day')});"
            f"create table people_months_ad ({columns.format(day='month')});"
            "create table people_first"
            " (profile_key int, day date, channel text, origin text, ad_key bigint, people int);"
            "create table people_ads"
            " (profile_key int, ad_key bigint, ad_id text, ad_name text, entity_key bigint);"
        )
        self.insert("people_ads", [(1, ad_key, ad_id, f"Ad {ad_id}", None) for ad_key, ad_id in IDS.items()])
        self.insert("people_ads", [(2, ELSEWHERE, "2", "Elsewhere", None)])
        for (ad_key, made), channel, origin in product(by_ad.items(), CHANNELS, ("all", *ORIGINS)):
            its = [one for one in made if channel in ("all", one[3]) and origin in ("all", one[2])]
            cells = cells_of(its)
            self.insert("people_cells_ad", [(1, channel, origin, ad_key, *row) for row in cells])
            self.insert("people_months_ad", [(1, channel, origin, ad_key, *row) for row in months_of(cells)])
        for ad_key, made in first_ads_of(by_ad).items():
            people = Counter((day, channel, origin) for _, day, origin, channel in made)
            firsts = [(1, *cut, ad_key, count) for cut, count in people.items()]
            self.insert("people_first", firsts)
        for table in ("people_cells_ad", "people_months_ad"):
            self.insert(table, [(2, "all", "all", ELSEWHERE, date(2026, 2, 1), NEVER, 99, 99)])
        self.insert("people_first", [(2, date(2026, 2, 1), "web", "web", ELSEWHERE, 99)])

    def insert(self, table: str, rows: list[tuple[object, ...]]) -> None:
        # one statement, because each of them costs more than its rows
        if rows:
            row = f"({', '.join('?' * len(rows[0]))})"
            self.connection.execute(
                f"insert into {table} values {', '.join([row] * len(rows))}", [value for one in rows for value in one]
            )


def months_of(cells: list[tuple[date, date, int, int]]) -> list[tuple[date, date, int, int]]:
    """The days of a month as one: who has an earlier day in it was counted there."""
    found: defaultdict[tuple[date, date], list[int]] = defaultdict(lambda: [0, 0])
    for day, prev, people, count in cells:
        month = day.replace(day=1)
        of = found[month, prev if prev < month else NEVER]
        of[0] += people if prev < month else 0
        of[1] += count
    return [(*place, *counts) for place, counts in found.items()]


def first_ads_of(by_ad: dict[int, list[Touch]]) -> dict[int, list[Touch]]:
    """The earliest touch of each person under any ad, under the ad that it carried."""
    ad_of = {id(one): ad_key for ad_key, made in by_ad.items() for one in made}
    found: defaultdict[int, list[Touch]] = defaultdict(list)
    for one in firsts_of([one for made in by_ad.values() for one in made]):
        found[ad_of[id(one)]].append(one)
    return found


def counted(by_ad: dict[int, list[Touch]], asked: Asked) -> list[tuple[str, dict[str, Count]]]:
    """Ads with people, best first, and their counts by origin, from the touches."""
    made_by = first_ads_of(by_ad) if asked.first_only else by_ad
    each = replace(asked, first_only=False)
    nothing = dict.fromkeys(("all", *ORIGINS), NOBODY)
    counts = {IDS[ad_key]: counted_by_origin(made, each) for ad_key, made in made_by.items()}
    found = [(ad_id, nothing | of) for ad_id, of in counts.items() if of]
    return sorted(found, key=lambda one: (-one[1]["all"].people, -one[1]["all"].touches, one[0]))


def spread(seed: int) -> dict[int, list[Touch]]:
    """The touches of a seed, each under an ad, of which some have more than others."""
    random, found = Random(seed), {ad_key: list[Touch]() for ad_key in IDS}
    for one in touches(seed):
        found[random.choices(list(IDS), weights=[5, 3, 3, 1])[0]].append(one)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_kept_and_summed_cells_count_what_the_touches_count(seed: int) -> None:
    random, by_ad = Random(seed), spread(seed)
    kept, unkept = Reader(by_ad, mebibytes=1), Reader(by_ad, mebibytes=0)
    for _ in range(40):
        first = BEGIN + timedelta(days=random.randint(-40, 60))
        window = DateRange(first, first + timedelta(days=random.choice((0, 6, 40, 120))))
        asked = Asked(window, "ad", random.choice((None, "web", "chatapp")), random.random() < 0.3)
        most = random.choice((2, 100))
        expected = counted(by_ad, asked)
        for reader in (kept, unkept):
            best, total = queries.best_ads(reader, PROFILE, asked, most=most)
            assert [(ad.ad_id, ad.counts) for ad in best] == expected[:most]
            assert total == len(expected)
            assert all(ad.ad_name == f"Ad {ad.ad_id}" for ad in best)
    # what is kept: the ads, and of three channels at most months, firsts and nine months of days, each a count and
    # five origins; then the names of each answer
    assert kept.asked <= 1 + 3 * (1 + 1 + 9) * 6 + 40


def test_a_second_question_of_the_same_months_asks_for_names_alone() -> None:
    reader = Reader(spread(0), mebibytes=1)
    for days in (45, 46, 47):
        window = DateRange(BEGIN + timedelta(days=days - 44), BEGIN + timedelta(days=days))
        before = reader.asked
        queries.best_ads(reader, PROFILE, Asked(window, "ad", None, False), most=100)
    assert reader.asked == before + 1


def test_too_many_cells_are_summed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_cells, "MOST_CELLS", 10)
    by_ad = spread(0)
    reader = Reader(by_ad, mebibytes=1)
    asked = Asked(DateRange(BEGIN, BEGIN + timedelta(days=49)), "ad", None, False)
    for _ in range(3):
        best, _ = queries.best_ads(reader, PROFILE, asked, most=100)
        assert [(ad.ad_id, ad.counts) for ad in best] == counted(by_ad, asked)
    # the ads, a count of each of three parts, and then five origins of each and the names
    assert reader.asked == 1 + 3 + 3 * (3 * 5 + 1)


def test_nobody_in_the_window_is_no_ad() -> None:
    reader = Reader(spread(0), mebibytes=1)
    asked = Asked(DateRange(date(2020, 1, 1), date(2020, 3, 5)), "ad", None, False)
    assert queries.best_ads(reader, PROFILE, asked, most=100) == ([], 0)


@pytest.mark.parametrize(
    ("first", "last", "days", "months"),
    [
        ("2026-01-15", "2026-01-20", [("2026-01-15", "2026-01-20")], None),
        ("2026-01-15", "2026-02-10", [("2026-01-15", "2026-01-31"), ("2026-02-01", "2026-02-10")], None),
        ("2026-01-01", "2026-03-30", [("2026-03-01", "2026-03-30")], ("2026-01-01", "2026-02-28")),
        ("2026-01-02", "2026-03-31", [("2026-01-02", "2026-01-31")], ("2026-02-01", "2026-03-31")),
        ("2026-02-01", "2026-02-28", [], ("2026-02-01", "2026-02-28")),
    ],
)
def test_a_window_is_cut_at_its_whole_months(
    first: str, last: str, days: list[tuple[str, str]], months: tuple[str, str] | None
) -> None:
    parts = kept_ads.parts(DateRange(date.fromisoformat(first), date.fromisoformat(last)))
    found = [(part.days.date_from.isoformat(), part.days.date_to.isoformat()) for part in parts]
    assert found == [*days, *([months] if months else [])]
