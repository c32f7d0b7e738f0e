"""Figures summed from what is kept in memory equal those of a query, for any window and any gaps."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import duckdb
import numpy as np
import pytest

from api import running_totals
from api.running_totals import Sums, Table, sums_by_entity, together
from api.windows import DateRange
from tests.fixtures.counting_reader import CountingReader

BEGIN = date(2026, 1, 1)
TABLE = Table("days", ("profile_key",), {"spend": "spend", "never": "0", "told": "coalesce(told, 0)"})
NAMED = {"profile_key": 1, "level": "not asked for by this table"}


class Reader(CountingReader):
    """A table of some sixty random rows."""

    def __init__(self, seed: int, *, mebibytes: int) -> None:
        super().__init__(duckdb.connect(), mebibytes=mebibytes)
        random = Random(seed)
        self.connection.execute("create table days (profile_key int, entity_key int, day date, spend bigint, told int)")
        # the widest that one entity sums to, and often less than all of them do
        most = (3_000, 10**8, 10**15)[seed % 3]
        for _ in range(random.choice((1, 60))):
            day = BEGIN + timedelta(days=random.randint(0, 30))
            row = [random.randint(1, 2), random.randint(1, 9), day, random.randint(-most // 1000, most), None]
            self.connection.execute("insert into days values (?, ?, ?, ?, ?)", row)


def window(random: Random) -> DateRange:
    first = BEGIN + timedelta(days=random.randint(-20, 45))
    return DateRange(first, first + timedelta(days=random.choice((0, 1, 6, 60))))


def figures(sums: Sums, name: str) -> list[int]:
    nothing = np.zeros(len(sums.keys), dtype=np.int64)
    return [int(one) for one in sums.columns.get(name, nothing)]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_sums_to_what_a_query_sums_to(seed: int) -> None:
    random = Random(seed)
    kept, queried = Reader(seed, mebibytes=1), Reader(seed, mebibytes=0)
    for _ in range(40):
        of = window(random)
        one, other = sums_by_entity(kept, TABLE, NAMED, of), sums_by_entity(queried, TABLE, NAMED, of)
        assert one.keys.tolist() == other.keys.tolist()
        for name in TABLE.measures:
            assert figures(one, name) == figures(other, name)
    assert (kept.asked, queried.asked) == (2, 40)


def test_a_total_that_wraps_around_still_tells_what_each_entity_sums_to() -> None:
    reader = Reader(0, mebibytes=1)
    reader.connection.execute("delete from days")
    reader.connection.execute("insert into days select 1, n, date '2026-01-01', 30000, null from range(9) as t(n)")
    found = sums_by_entity(reader, TABLE, NAMED, DateRange(BEGIN, BEGIN))
    assert figures(found, "spend") == [30_000] * 9
    kept = reader.shelf.find(("days", 1))
    assert isinstance(kept, running_totals.RunningTotals)
    assert kept.totals["spend"].dtype == "int16"


def test_what_is_too_large_is_counted_once_and_then_queried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_totals, "MOST_ROWS", 0)
    reader, of = Reader(1, mebibytes=1), DateRange(BEGIN, BEGIN + timedelta(days=40))
    for _ in range(3):
        assert len(sums_by_entity(reader, TABLE, NAMED, of).keys)
    assert reader.asked == 4


def test_what_finds_no_room_is_not_read_whole_again_and_again() -> None:
    reader, of = Reader(1, mebibytes=1), DateRange(BEGIN, BEGIN + timedelta(days=40))
    reader.connection.execute(
        "insert into days select 1, n % 9, date '2026-01-01', n, null from range(300_000) as t(n)"
    )
    for _ in range(3):
        assert len(sums_by_entity(reader, TABLE, NAMED, of).keys)
    assert reader.asked == 4


def test_what_found_no_room_is_kept_once_there_is_some() -> None:
    reader, of = Reader(1, mebibytes=1), DateRange(BEGIN, BEGIN + timedelta(days=40))
    reader.connection.execute("insert into days select 1, n % 9, date '2026-01-01', n, null from range(9_000) as t(n)")
    reader.shelf.get("something else", lambda _: running_totals.TooLarge(size=2**20 - 2**15), None)
    first = sums_by_entity(reader, TABLE, NAMED, of)
    assert isinstance(reader.shelf.find(("days", 1)), running_totals.TooLarge)
    reader.shelf.put_away("something else")
    then = sums_by_entity(reader, TABLE, NAMED, of)
    assert isinstance(reader.shelf.find(("days", 1)), running_totals.RunningTotals)
    assert figures(then, "spend") == figures(first, "spend")


def test_sums_stand_side_by_side_for_the_entities_that_are_known() -> None:
    one = Sums(np.array([1, 4, 9]), {"a": np.array([10, 40, 90])})
    other = Sums(np.array([2, 4, 5]), {"b": np.array([2, 4, 5]), "c": np.array([0, 1, 2])})
    counted = {"all": ("c", "a", "not there"), "none": ("not there",)}
    places, figures = together(np.array([1, 2, 3, 4, 6]), [one, other], counted)
    assert places.tolist() == [0, 1, 3]
    found = dict(zip(figures.names, figures.table.tolist(), strict=True))
    assert found == {"a": [10, 0, 40], "b": [0, 2, 4], "c": [0, 0, 1], "all": [10, 0, 41], "none": [0, 0, 0]}
    assert figures.rows(("b", "not there")).tolist() == [[0, 2, 4]]
    assert figures.of(np.array([2, 0])).rows(("a",)).tolist() == [[40, 10]]
    assert together(np.array([], dtype=np.int64), [one], counted)[0].tolist() == []
