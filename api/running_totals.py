"""Daily figures summed by entity, from running totals that are kept while their snapshot is open.

Planning a query costs more than adding up a small profile: what was read of it once is kept as running totals in
the order of entities and days, so that any window is one subtraction for each entity. What is too large to keep is
summed by a query each time. Both give the same integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from api.served import Reader
from api.windows import DateRange

Integers = npt.NDArray[np.int64]
AnyIntegers = npt.NDArray[np.signedinteger[Any]]

# more rows than these take longer to read whole than a caller should wait
MOST_ROWS = 1_500_000
EPOCH = date(1970, 1, 1).toordinal()
WIDTHS = (np.int16, np.int32, np.int64)


@dataclass(frozen=True)
class Table:
    """A served table with a day and an entity in each row: the columns that name one slice of it, and its measures.

    A measure is an integer expression over a row, never null, by name.
    """

    name: str
    named_by: tuple[str, ...]
    measures: Mapping[str, str]

    @property
    def where(self) -> str:
        return " and ".join(f"{column} = ${column}" for column in self.named_by)


@dataclass(frozen=True)
class Sums:
    """`keys`: entities in ascending order; `values`: one row per entity, one column per measure."""

    keys: Integers
    values: Integers


@dataclass(frozen=True)
class TooLarge:
    """Stands where a slice has more rows than are read whole; `there` are the measures that are ever not 0."""

    there: tuple[str, ...]
    size: int = 512


@dataclass(frozen=True)
class RunningTotals:
    """One slice: `places` holds entity and day of each row as one ascending number.

    `totals` holds, by number of a measure, the sum of all rows before each row; measures that are 0 throughout have
    none. A column is as wide as the sum of any entity needs: the running total itself may wrap around, since the
    difference of two is right all the same.
    """

    keys: Integers
    first_day: int
    days: int
    places: AnyIntegers
    totals: Mapping[int, AnyIntegers]
    width: int

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.keys.nbytes + self.places.nbytes + sum(column.nbytes for column in self.totals.values())

    def within(self, window: DateRange) -> Sums:
        """Sums of the entities that have rows in the window."""
        begin = min(max(_number(window.date_from) - self.first_day, 0), self.days)
        end = min(max(_number(window.date_to) - self.first_day + 1, begin), self.days)
        # in the type of the places: of another one, all of them would be converted first
        at = np.arange(len(self.keys), dtype=self.places.dtype) * (self.days + 1)
        low, high = np.searchsorted(self.places, at + begin), np.searchsorted(self.places, at + end)
        found = np.flatnonzero(high > low)
        low, high = low[found], high[found]
        values = np.zeros((len(found), self.width), dtype=np.int64)
        for measure, totals in self.totals.items():
            values[:, measure] = totals[high] - totals[low]
        return Sums(self.keys[found], values)


def sums_by_entity(reader: Reader, table: Table, named: Mapping[str, object], window: DateRange) -> Sums:
    """Sums of a window by entity, of the slice with the values of `named` in the columns it is named by."""
    of = {column: named[column] for column in table.named_by}
    place = (table.name, *of.values())
    found = reader.shelf.find(place)
    if found is None and reader.shelf.has_room(0):
        found = _read(reader, table, of)
        if reader.shelf.has_room(found.size):
            reader.shelf.keep(place, found)
    if isinstance(found, RunningTotals):
        return found.within(window)
    there = found.there if isinstance(found, TooLarge) else tuple(table.measures)
    return _queried(reader, table, of, window, there)


def together(one: Sums, other: Sums) -> Sums:
    """Both side by side: every entity of either, 0 where it is absent."""
    keys, width = np.union1d(one.keys, other.keys), one.values.shape[1]
    values = np.zeros((len(keys), width + other.values.shape[1]), dtype=np.int64)
    values[np.searchsorted(keys, one.keys), :width] = one.values
    values[np.searchsorted(keys, other.keys), width:] = other.values
    return Sums(keys, values)


def _read(reader: Reader, table: Table, of: Mapping[str, object]) -> RunningTotals | TooLarge:
    ever = "".join(f", coalesce(bool_or({measure} <> 0), false)" for measure in table.measures.values())
    counted = f"select count(*){ever} from {table.name} where {table.where}"  # noqa: S608 - constants of this program
    rows, *is_there = reader.rows(counted, of)[0]
    there = tuple(name for name, is_ever in zip(table.measures, is_there, strict=True) if is_ever)
    if rows > MOST_ROWS:
        return TooLarge(there)
    measures = "".join(f", {table.measures[name]} as {name}" for name in there)
    found = reader.columns(
        f"select entity_key, cast(day - date '1970-01-01' as integer) as day{measures}"  # noqa: S608 - as above
        f" from {table.name} where {table.where}",
        of,
    )
    # told from the places by a binary search, which rows that come by day and entity make short
    keys = np.unique(found["entity_key"].astype(np.int64, copy=False))
    nth, days = np.searchsorted(keys, found["entity_key"]), found["day"]
    first, last = (int(days.min()), int(days.max())) if rows else (0, -1)
    most = len(keys) * (last - first + 2)
    order = np.lexsort((_narrowed(days - first, last - first), _narrowed(nth, len(keys))))
    places = _narrowed(nth * (last - first + 2) + (days - first), most)[order]
    begins = np.flatnonzero(np.diff(nth[order], prepend=-1))
    numbers = {name: n for n, name in enumerate(table.measures)}
    totals = {numbers[name]: _running(found[name][order], begins) for name in there}
    return RunningTotals(keys, first, last - first + 1, places, totals, len(numbers))


def _running(column: Integers, begins: Integers) -> AnyIntegers:
    """Totals before each row and after the last, no wider than the sum of any entity, of rows from `begins`, needs."""
    totals = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(column, out=totals[1:], dtype=np.int64)
    return _narrowed(totals, int(np.add.reduceat(np.abs(column), begins, dtype=np.int64).max()))


def _narrowed(numbers: AnyIntegers, most: int) -> AnyIntegers:
    """The same in the narrowest type that holds `most`, whatever else wraps around."""
    return numbers.astype(next(width for width in WIDTHS if most <= np.iinfo(width).max))


def _queried(reader: Reader, table: Table, of: Mapping[str, object], window: DateRange, there: Sequence[str]) -> Sums:
    measures = "".join(f", cast(sum({table.measures[name]}) as bigint) as {name}" for name in there)
    found = reader.columns(
        f"select entity_key{measures} from {table.name}"  # noqa: S608 - as above
        f" where {table.where} and day between $date_from and $date_to group by entity_key order by entity_key",
        {**of, "date_from": window.date_from, "date_to": window.date_to},
    )
    keys = found["entity_key"].astype(np.int64)
    values = np.zeros((len(keys), len(table.measures)), dtype=np.int64)
    for column, name in enumerate(table.measures):
        if name in there:
            values[:, column] = found[name]
    return Sums(keys, values)


def _number(day: date) -> int:
    return day.toordinal() - EPOCH
