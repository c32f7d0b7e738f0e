"""Daily figures summed by entity, from running totals that are kept while their snapshot is open.

Planning a query costs more than adding up a small profile: what was read of it once is kept as running totals in
the order of entities and days, so that any window is one subtraction for each entity. What is too large to keep is
summed by a query each time. Both give the same integers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from api.served import Reader
from api.shelf import Thing
from api.windows import DateRange

Integers = npt.NDArray[np.int64]
AnyIntegers = npt.NDArray[np.signedinteger[Any]]

# more rows than these take longer to read whole than a caller should wait
MOST_ROWS = 1_500_000
EPOCH = date(1970, 1, 1).toordinal()
# what a place or a total of one row takes, as a rule
BYTES = 4
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
    """`keys`: entities in ascending order; `columns`: their sums by measure, none for one that is 0 throughout."""

    keys: Integers
    columns: Mapping[str, AnyIntegers]


@dataclass(frozen=True)
class Figures:
    """`table` holds a row for each of the `names`, and in it a number for each entity."""

    names: Sequence[str]
    table: Integers

    def rows(self, names: Sequence[str]) -> Integers:
        """The rows of those names that there are."""
        return self.table[[self.names.index(name) for name in names if name in self.names]]

    def row(self, name: str, places: Integers) -> Integers | int:
        """The numbers under a name for some of the entities; 0 where there are none."""
        return self.table[self.names.index(name)].take(places) if name in self.names else 0

    def of(self, places: Integers) -> Figures:
        """The same of some of the entities."""
        return Figures(self.names, self.table.take(places, axis=1))


@dataclass(frozen=True)
class TooLarge:
    """Stands where a slice has too many rows to read whole or to keep.

    `there` are the measures that are ever not 0; `needs` are the bytes for which there was no room.
    """

    there: tuple[str, ...] = ()
    needs: int | None = None
    size: int = 512


@dataclass(frozen=True)
class RunningTotals:
    """One slice: `places` holds entity and day of each row as one ascending number.

    `begins` and `ends` are the first and the last day of each entity, counted from `first_day`.
    `totals` holds, by measure, the sum of all rows before each row; measures that are 0 throughout have
    none. A column is as wide as the sum of any entity needs: the running total itself may wrap around, since the
    difference of two is right all the same.
    """

    keys: Integers
    begins: AnyIntegers
    ends: AnyIntegers
    first_day: int
    days: int
    places: AnyIntegers
    totals: Mapping[str, AnyIntegers]

    @property
    def size(self) -> int:
        """Bytes held."""
        arrays = (self.keys, self.begins, self.ends, self.places, *self.totals.values())
        return sum(array.nbytes for array in arrays)

    def within(self, window: DateRange) -> Sums:
        """Sums of the entities that have rows in the window."""
        begin = min(max(day_number(window.date_from) - self.first_day, 0), self.days)
        end = min(max(day_number(window.date_to) - self.first_day + 1, begin), self.days)
        # most ads of a year are over before a window, or begin after it
        alive = ((self.begins < end) & (self.ends >= begin)).nonzero()[0]
        # in the type of the places: of another one, all of them would be converted first
        at = alive.astype(self.places.dtype) * (self.days + 1)
        low, high = self.places.searchsorted(at + begin), self.places.searchsorted(at + end)
        has = high > low
        if not has.all():
            alive, low, high = alive[has], low[has], high[has]
        columns = {name: totals.take(high) - totals.take(low) for name, totals in self.totals.items()}
        return Sums(self.keys.take(alive), columns)


def sums_by_entity(reader: Reader, table: Table, named: Mapping[str, object], window: DateRange) -> Sums:
    """Sums of a window by entity, of the slice with the values of `named` in the columns it is named by."""
    of = {column: named[column] for column in table.named_by}
    place = (table.name, *of.values())
    found = kept_if_room(reader, place, lambda source: _read(source, table, of))
    if isinstance(found, RunningTotals):
        return found.within(window)
    there = found.there if isinstance(found, TooLarge) else tuple(table.measures)
    return _queried(reader, table, of, window, there)


def kept_if_room(reader: Reader, place: Hashable, read: Callable[[Reader], Thing]) -> Thing | None:
    """As `Shelf.get_if_room`; what was too large once is read as soon as there is room for it."""
    found = reader.shelf.get_if_room(place, read, reader)
    if isinstance(found, TooLarge) and found.needs is not None and reader.shelf.has_room(found.needs):
        reader.shelf.put_away(place)
        found = reader.shelf.get_if_room(place, read, reader)
    return found


def together(keys: Integers, parts: Sequence[Sums], counted: Mapping[str, Sequence[str]]) -> tuple[Integers, Figures]:
    """Parts side by side: which of the ascending `keys` any of them has, and their figures, 0 where a part lacks one.

    `counted` names further figures, and those that each is the sum of.
    """
    placed = [_placed(part, keys) for part in parts]
    is_there = np.zeros(len(keys), dtype=bool)
    for at, _ in placed:
        is_there[at] = True
    found = is_there.nonzero()[0]
    nth = is_there.cumsum() - 1
    names = [name for _, columns in placed for name in columns]
    table = np.zeros((len(names) + len(counted), len(found)), dtype=np.int64)
    rows = iter(table)
    for at, columns in placed:
        places = nth.take(at)
        for column in columns.values():
            next(rows)[places] = column
    for row, of in zip(rows, counted.values(), strict=True):
        for name in of:
            if name in names:
                row += table[names.index(name)]
    return found, Figures([*names, *counted], table)


def _placed(part: Sums, keys: Integers) -> tuple[Integers, Mapping[str, AnyIntegers]]:
    """Where those of a part stand that are among the `keys`, and their columns."""
    at = keys.searchsorted(part.keys)
    known = at < len(keys)
    known[known] = keys[at[known]] == part.keys[known]
    if known.all():
        return at, part.columns
    return at[known], {name: column[known] for name, column in part.columns.items()}


def _read(reader: Reader, table: Table, of: Mapping[str, object]) -> RunningTotals | TooLarge:
    ever = "".join(f", coalesce(bool_or({measure} <> 0), false)" for measure in table.measures.values())
    counted = f"select count(*){ever} from {table.name} where {table.where}"  # noqa: S608 - constants of this program
    rows, *is_there = reader.rows(counted, of)[0]
    there = tuple(name for name, is_ever in zip(table.measures, is_there, strict=True) if is_ever)
    needs = BYTES * rows * (1 + len(there))
    if rows > MOST_ROWS or not reader.shelf.has_room(needs):
        return TooLarge(there, needs if rows <= MOST_ROWS else None)
    measures = "".join(f", {table.measures[name]} as {name}" for name in there)
    found = reader.columns(
        f"select entity_key, cast(day - date '1970-01-01' as integer) as day{measures}"  # noqa: S608 - as above
        f" from {table.name} where {table.where}",
        of,
    )
    # faster than an inverse of unique: rows come by day and entity, so that each search begins where the last one ended
    keys = np.unique(found["entity_key"].astype(np.int64, copy=False))
    nth, days = np.searchsorted(keys, found["entity_key"]), found["day"]
    first, last = (int(days.min()), int(days.max())) if rows else (0, -1)
    days = narrowed(days - first, last - first + 1)
    order = np.lexsort((days, narrowed(nth, len(keys))))
    nth, days = nth[order], days[order]
    places = narrowed(nth * (last - first + 2) + days, len(keys) * (last - first + 2))
    at = np.flatnonzero(np.diff(nth, prepend=-1))
    begins, ends = days[at], days[np.append(at[1:], rows)[: len(at)] - 1]
    totals = {name: _running(found[name][order], at) for name in there}
    return RunningTotals(keys, begins, ends, first, last - first + 1, places, totals)


def _running(column: Integers, begins: Integers) -> AnyIntegers:
    """Totals before each row and after the last, as wide as the sum of any entity (its rows begin there) needs."""
    totals = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(column, out=totals[1:], dtype=np.int64)
    return narrowed(totals, int(np.add.reduceat(np.abs(column), begins, dtype=np.int64).max()))


def narrowed(numbers: AnyIntegers, most: int) -> AnyIntegers:
    """The same in the narrowest type that holds `most`, whatever else wraps around."""
    return numbers.astype(next(width for width in WIDTHS if most <= np.iinfo(width).max))


def _queried(reader: Reader, table: Table, of: Mapping[str, object], window: DateRange, there: Sequence[str]) -> Sums:
    measures = "".join(f", cast(sum({table.measures[name]}) as bigint) as {name}" for name in there)
    found = reader.columns(
        f"select entity_key{measures} from {table.name}"  # noqa: S608 - as above
        f" where {table.where} and day between $date_from and $date_to group by entity_key order by entity_key",
        {**of, "date_from": window.date_from, "date_to": window.date_to},
    )
    columns = {name: found[name].astype(np.int64, copy=False) for name in there}
    return Sums(found["entity_key"].astype(np.int64, copy=False), columns)


def day_number(day: date) -> int:
    """Days from 1970-01-01."""
    return day.toordinal() - EPOCH
