"""Cells of one channel kept in memory while their snapshot is open, and added up for any buckets of any window.

To plan a query over them and to read them takes longer than to add them up. Where they are too many to keep, those of
the window are read each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from api.running_totals import AnyIntegers, Integers, TooLarge, day_number, kept_if_room, narrowed
from api.served import ORIGINS, Reader
from api.shelf import Thing
from api.windows import DateRange

ALL = "all"
# more than these take longer to read whole than a caller should wait; those of 400 days are 400,000 at most
MOST_CELLS = 3_000_000
# what a cell takes, as a rule
BYTES = 16
# the day before of people that are counted once, whatever the window
NO_DAY = "date '0001-01-01'"

_COUNTED = "select count(*) from people_cells where profile_key = $profile_key and channel = $channel"

_CELLS = """
select day, prev, people, touches from people_cells
where profile_key = $profile_key and channel = $channel and origin = $origin {within}
"""

_WITHIN = "and day between $date_from and $date_to"

_FIRSTS = f"""
select day, {NO_DAY} as prev, cast(sum(people) as bigint) as people, cast(sum(people) as bigint) as touches
from people_first
where profile_key = $profile_key and $channel in ('all', channel) and $origin in ('all', origin)
group by day
"""  # noqa: S608 - constants; values are bound

_STARTED = f"""
select
    day, {NO_DAY} as prev, cast(sum(messaging_conversations_started_7d) as bigint) as people, 0 as touches
from delivery_daily
where profile_key = $profile_key and level = 'campaign' and messaging_conversations_started_7d is not null
group by day
"""  # noqa: S608 - as above

_IN_ORDER = """
select cells.* replace (
    cast(day - date '1970-01-01' as integer) as day, cast(prev - date '1970-01-01' as integer) as prev
)
from ({cells}) as cells
order by day
"""

# start of the bucket, origin, people whose day before is before it, touches, people whose day before is before all
Row = tuple[date, str, int, int, int]


@dataclass(frozen=True)
class Cells:
    """Of one origin, in the order of days; `days` and `prevs` are counted from 1970-01-01."""

    days: AnyIntegers
    prevs: AnyIntegers
    people: AnyIntegers
    touches: AnyIntegers

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in (self.days, self.prevs, self.people, self.touches))

    def within(self, edges: Integers) -> tuple[list[int], list[list[int]]]:
        """Which buckets have cells, and of each of these what `Row` ends with; a bucket ends where the next begins."""
        at = self.days.searchsorted(edges.astype(self.days.dtype))
        there = np.flatnonzero(np.diff(at))
        if not len(there):
            return [], []
        part = slice(at[0], at[-1])
        prevs, people = self.prevs[part], self.people[part]
        begins = np.repeat(edges[:-1].astype(prevs.dtype), np.diff(at))
        counted = (people * (prevs < begins), self.touches[part], people * (prevs < edges[0]))
        sums = [np.add.reduceat(one, at[there] - at[0], dtype=np.int64).tolist() for one in counted]
        return there.tolist(), [list(row) for row in zip(*sums, strict=True)]


@dataclass(frozen=True)
class ByOrigin:
    """Cells by origin, which are kept together."""

    by_origin: Mapping[str, Cells]

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(cells.size for cells in self.by_origin.values())

    def rows(self, buckets: Sequence[DateRange]) -> Iterator[Row]:
        """One for each origin and bucket that has cells; each of the buckets begins where the one before ended."""
        edges = np.array([*(day_number(one.date_from) for one in buckets), day_number(buckets[-1].date_to) + 1])
        for origin, cells in self.by_origin.items():
            there, sums = cells.within(edges)
            for nth, (people, touches, new_people) in zip(there, sums, strict=True):
                yield buckets[nth].date_from, origin, people, touches, new_people


def cells(reader: Reader, profile_key: int, channel: str, window: DateRange) -> ByOrigin:
    """Of people in all their days, or at least in those of the window."""
    of = {"profile_key": profile_key, "channel": channel}
    kept = kept_unless_many(
        reader,
        ("people_cells", *of.values()),
        lambda source: source.rows(_COUNTED, of)[0][0],
        lambda source: _by_origin(source, _CELLS.format(within=""), of),
    )
    if kept is not None:
        return kept
    dates = {"date_from": window.date_from, "date_to": window.date_to}
    return _by_origin(reader, _CELLS.format(within=_WITHIN), {**of, **dates})


def kept_unless_many(
    reader: Reader, place: Hashable, count: Callable[[Reader], int], read: Callable[[Reader], Thing]
) -> Thing | None:
    """What stands on the shelf, or is put there now; None where the cells that `count` tells are too many to keep."""

    def read_if_few(source: Reader) -> Thing | TooLarge:
        cells = count(source)
        if cells > MOST_CELLS or not source.shelf.has_room(BYTES * cells):
            return TooLarge(needs=BYTES * cells if cells <= MOST_CELLS else None)
        return read(source)

    found = kept_if_room(reader, place, read_if_few)
    return None if isinstance(found, TooLarge) else found


def firsts(reader: Reader, profile_key: int, channel: str) -> ByOrigin:
    """Of people in their first days."""
    of = {"profile_key": profile_key, "channel": channel}
    return reader.shelf.get(("people_first", *of.values()), lambda source: _by_origin(source, _FIRSTS, of), reader)


def started(reader: Reader, profile_key: int) -> ByOrigin:
    """Of conversations that platforms say were started, on days on which any said so."""
    of = {"profile_key": profile_key}

    def read(source: Reader) -> ByOrigin:
        return ByOrigin({ALL: read_cells(source, _STARTED, of)[1]})

    return reader.shelf.get(("conversations_started", profile_key), read, reader)


def read_cells(reader: Reader, sql: str, of: Mapping[str, object]) -> tuple[dict[str, Any], Cells]:
    """What a query gives as cells, in the order of days: its columns, and the cells that four of them are."""
    found = reader.columns(_IN_ORDER.format(cells=sql), of)
    days, prevs = (found[name].astype(np.int32) for name in ("day", "prev"))
    return found, Cells(days, prevs, _narrow(found["people"]), _narrow(found["touches"]))


def _by_origin(reader: Reader, sql: str, of: Mapping[str, object]) -> ByOrigin:
    return ByOrigin({origin: read_cells(reader, sql, {**of, "origin": origin})[1] for origin in (ALL, *ORIGINS)})


def _narrow(counts: Integers) -> AnyIntegers:
    return narrowed(counts, int(counts.max(initial=0)))
