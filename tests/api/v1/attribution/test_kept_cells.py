"""Counts of people from cells, kept in memory or read for the window alone, are those of the touches themselves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import duckdb
import pytest

from api.served import ORIGINS, ProfileFacts
from api.v1.attribution import ad_people_queries as queries
from api.v1.attribution import kept_cells
from api.v1.attribution.ad_people_queries import GROUPINGS, Asked, Count
from api.windows import DateRange
from tests.factories.served import insert_rows
from tests.fixtures.counting_reader import CountingReader

BEGIN = date(2026, 1, 20)
CHANNELS = ("all", "web", "chatapp")
PROFILE = ProfileFacts(1, "UTC", "USD", 2, "1", 30, 7, None, None)

Touch = tuple[int, date, str, str]


def touches(seed: int) -> list[Touch]:
    """Person, day, origin and channel of some two hundred touches over fifty days."""
    random = Random(seed)
    return [
        (random.randint(1, 40), BEGIN + timedelta(days=random.randint(0, 49)), *random.choice(
            [(origin, channel) for origin in ORIGINS[1:] for channel in CHANNELS[1:]])
        )
        for _ in range(200)
    ]  # fmt: skip


class Reader(CountingReader):
    """The served tables that those touches make, beside those of another profile."""

    def __init__(self, made: list[Touch], *, mebibytes: int) -> None:
        super().__init__(duckdb.connect(), mebibytes=mebibytes)
        self.connection.execute(
            "create table people_cells"
            " (profile_key int, channel text, origin text, day date, prev date, people int, touches int);"
            "create table people_first (profile_key int, day date, channel text, origin text, ad_key int, people int);"
            "create table delivery_daily"
            " (profile_key int, level text, day date, messaging_conversations_started_7d int);"
        )
        for channel in CHANNELS:
            for origin in ("all", *ORIGINS):
                cut = [one for one in made if channel in ("all", one[3]) and origin in ("all", one[2])]
                self.insert("people_cells", *((1, channel, origin, *row) for row in cells_of(cut)))
        firsts = ((1, day, channel, origin, 5, 1) for _, day, origin, channel in firsts_of(made))
        self.insert("people_first", (2, BEGIN, "web", "web", 5, 99), *firsts)
        told = ((1, "campaign", BEGIN + timedelta(days=nth), None if nth % 2 else nth) for nth in range(0, 50, 7))
        self.insert("delivery_daily", (2, "campaign", BEGIN, 99), (1, "ad", BEGIN, 99), *told)
        self.insert("people_cells", (2, "all", "all", BEGIN, date(1, 1, 1), 99, 99))

    def insert(self, table: str, *rows: tuple[object, ...]) -> None:
        insert_rows(self.connection, table, rows)


def firsts_of(made: list[Touch]) -> list[Touch]:
    """The earliest of each person."""
    found: dict[int, Touch] = {}
    for one in sorted(made, key=lambda one: one[1]):
        found.setdefault(one[0], one)
    return list(found.values())


def cells_of(cut: list[Touch]) -> list[tuple[date, date, int, int]]:
    """Day, the day before of the same people, people and touches."""
    days: defaultdict[int, defaultdict[date, int]] = defaultdict(lambda: defaultdict(int))
    for person, day, *_ in cut:
        days[person][day] += 1
    found: defaultdict[tuple[date, date], list[int]] = defaultdict(lambda: [0, 0])
    for of in days.values():
        before = date(1, 1, 1)
        for day in sorted(of):
            found[day, before][0] += 1
            found[day, before][1] += of[day]
            before = day
    return [(*place, *counts) for place, counts in found.items()]


def counted(made: list[Touch], asked: Asked) -> dict[str, Count]:
    """Distinct people of the window and their touches, by origin, from the touches."""
    if asked.first_only:
        made = firsts_of(made)
    found = {}
    for origin in ("all", *ORIGINS):
        some = [
            one for one in made
            if asked.window.date_from <= one[1] <= asked.window.date_to
            and origin in ("all", one[2]) and asked.channel in (None, one[3])
        ]  # fmt: skip
        if some:
            found[origin] = Count(len({one[0] for one in some}), len(some))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_or_read_for_the_window_counts_what_the_touches_count(seed: int) -> None:
    random, made = Random(seed), touches(seed)
    kept, unkept = Reader(made, mebibytes=1), Reader(made, mebibytes=0)
    for _ in range(30):
        first = BEGIN + timedelta(days=random.randint(-40, 60))
        window = DateRange(first, first + timedelta(days=random.choice((0, 6, 40, 120))))
        asked = Asked(window, random.choice(GROUPINGS), random.choice((None, "web", "chatapp")), random.random() < 0.3)
        one, other = (queries.by_time(reader, PROFILE, asked) for reader in (kept, unkept))
        assert one == other
        assert one.totals == counted(made, asked)
        for bucket in asked.buckets:
            here = one.buckets.get(bucket.date_from, {})
            assert here == counted(made, replace(asked, window=bucket))
    # of three channels: a count of rows and five origins, and five of firsts
    assert kept.asked <= 3 * (1 + 5 + 5)


def test_conversations_are_of_buckets_in_which_any_was_told() -> None:
    reader = Reader([], mebibytes=1)
    window = DateRange(BEGIN, BEGIN + timedelta(days=20))
    # told on days 0 and 14; on days 7 and 21 there was delivery, and no platform said
    assert queries.conversations(reader, PROFILE, Asked(window, "day", None, False)) == {
        BEGIN: 0, BEGIN + timedelta(days=14): 14,
    }  # fmt: skip
    assert queries.conversations(reader, PROFILE, Asked(window, "month", None, False)) == {
        BEGIN: 0,
        date(2026, 2, 1): 14,
    }
    later = DateRange(BEGIN + timedelta(days=1), BEGIN + timedelta(days=13))
    assert queries.conversations(reader, PROFILE, Asked(later, "ad", None, False)) == {}
    assert reader.asked == 1


def test_too_many_cells_are_counted_once_and_then_read_for_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_cells, "MOST_CELLS", 10)
    made = touches(0)
    reader, window = Reader(made, mebibytes=1), DateRange(BEGIN, BEGIN + timedelta(days=49))
    asked = Asked(window, "month", None, False)
    for _ in range(3):
        assert queries.by_time(reader, PROFILE, asked).totals == counted(made, asked)
    assert reader.asked == 1 + 3 * 5
