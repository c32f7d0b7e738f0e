"""Daily figures summed by entity, from running totals that are kept while their snapshot is open.

Planning a query costs more than adding up a small profile: what was read of it once is kept as running totals in
the order of entities and days, so that any window is one subtraction for each entity. What is too large to keep is
summed by a query each time. Both give the same integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from api.served import Reader
from api.windows import DateRange

Integers = npt.NDArray[np.int64]

# more rows than these take longer to read whole than a caller should wait
MOST_ROWS = 400_000
EPOCH = date(1970, 1, 1).toordinal()


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
    """One slice: `places` holds entity and day of each row as one ascending number, `totals` all rows before each.

    Measures that are 0 throughout are left out of `totals`; `there` says which ones are in, of `width`.
    """

    keys: Integers
    first_day: int
    days: int
    places: Integers
    totals: Integers
    there: Integers
    width: int

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.keys.nbytes + self.places.nbytes + self.totals.nbytes

    def within(self, window: DateRange) -> Sums:
        """Sums of the entities that have rows in the window."""
        begin = min(max(_number(window.date_from) - self.first_day, 0), self.days)
        end = min(max(_number(window.date_to) - self.first_day + 1, begin), self.days)
        at = np.arange(len(self.keys), dtype=np.int64) * (self.days + 1)
        low, high = np.searchsorted(self.places, at + begin), np.searchsorted(self.places, at + end)
        found = np.flatnonzero(high > low)
        values = np.zeros((len(found), self.width), dtype=np.int64)
        values[:, self.there] = self.totals[high[found]] - self.totals[low[found]]
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
    count = f"select count(*) from {table.name} where {table.where}"  # noqa: S608 - constants of this program
    if reader.rows(count, of)[0][0] > MOST_ROWS:
        return TooLarge(_there(reader, table, of))
    measures = ", ".join(f"{measure} as {name}" for name, measure in table.measures.items())
    found = reader.columns(f"select entity_key, day, {measures} from {table.name} where {table.where}", of)  # noqa: S608
    keys, nth = np.unique(found["entity_key"].astype(np.int64), return_inverse=True)
    days = found["day"].astype("datetime64[D]").astype(np.int64)
    first, last = (int(days.min()), int(days.max())) if len(days) else (0, -1)
    places = nth.astype(np.int64) * (last - first + 2) + (days - first)
    # the table is kept by day: sorting one column here is half the work of sorting all of them there
    order = np.argsort(places, kind="stable")
    there = [n for n, name in enumerate(table.measures) if found[name].any()]
    totals = np.zeros((len(days) + 1, len(there)), dtype=np.int64)
    names = list(table.measures)
    for column, n in enumerate(there):
        np.cumsum(found[names[n]][order], out=totals[1:, column], dtype=np.int64)
    at = np.array(there, dtype=np.int64)
    return RunningTotals(keys, first, last - first + 1, places[order], totals, at, len(table.measures))


def _there(reader: Reader, table: Table, of: Mapping[str, object]) -> tuple[str, ...]:
    ever = ", ".join(f"coalesce(bool_or({measure} <> 0), false)" for measure in table.measures.values())
    found = reader.rows(f"select {ever} from {table.name} where {table.where}", of)[0]  # noqa: S608 - as above
    return tuple(name for name, is_there in zip(table.measures, found, strict=True) if is_there)


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
