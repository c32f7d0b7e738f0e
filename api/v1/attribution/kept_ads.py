"""Cells of ads kept in memory while their snapshot is open, and added up by ad for any window.

Months that lie wholly in the window are read from cells of months: fewer, with the same sums. Cells of days, of which
there are many, are kept one month at a time, because only the months in which windows begin and end are asked for.
Where cells are too many to keep, their sums over the part of the window are read each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from api.running_totals import AnyIntegers, Integers, day_number, narrowed
from api.served import ORIGINS, Reader
from api.v1.attribution.kept_cells import ALL, NO_DAY, Cells, kept_unless_many, read_cells
from api.windows import DateRange, last_of_month

EVER = DateRange(date.min, date.max)

_IN_PART = "day between $date_from and $date_to"

_OF_SCOPE = "profile_key = $profile_key and channel = $channel and origin = $origin"

_OF_DAYS = f"""
select ad_key, day, prev, people, touches from people_cells_ad
where {_OF_SCOPE} and {_IN_PART}
"""  # noqa: S608 - constants; values are bound

_OF_MONTHS = f"""
select ad_key, month as day, prev, people, touches from people_months_ad
where {_OF_SCOPE} and month between $date_from and $date_to
"""  # noqa: S608 - as above

# the earliest ad touch of a person is counted once, so it needs no day before, and origins add up
_OF_FIRSTS = f"""
select ad_key, day, {NO_DAY} as prev, cast(sum(people) as bigint) as people,
    cast(sum(people) as bigint) as touches
from people_first
where profile_key = $profile_key and $channel in ('all', channel) and $origin in ('all', origin) and {_IN_PART}
group by ad_key, day
"""  # noqa: S608 - as above

# cells of one origin are as many again as those of all, as a rule
_COUNTED = "select 2 * count(*) from ({cells}) as cells"

_SUMMED = f"""
select
    ad_key, min(day) as day, {NO_DAY} as prev,
    cast(coalesce(sum(people) filter (where prev < $since), 0) as bigint) as people,
    cast(sum(touches) as bigint) as touches
from ({{cells}}) as cells
group by ad_key
"""  # noqa: S608 - as above

_ADS = "select ad_key from people_ads where profile_key = $profile_key order by ad_id"


@dataclass(frozen=True)
class Ads:
    """The ads of a profile that touches carried: their keys, in the order of their ids."""

    keys: Integers
    by_key: Integers

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.keys.nbytes + self.by_key.nbytes


@dataclass(frozen=True)
class AdCells:
    """Cells of one origin in the order of days; `places` are those of their ads in `Ads`."""

    places: AnyIntegers
    cells: Cells

    def sums(self, days: DateRange, since: date, ads: int) -> Iterator[Integers]:
        """By ad: people of these days whom it had not met from `since` to the day of their cell, and touches."""
        edges = np.array([day_number(days.date_from), day_number(days.date_to) + 1], dtype=self.cells.days.dtype)
        within = slice(*self.cells.days.searchsorted(edges))
        places, people = self.places[within], self.cells.people[within]
        new = np.flatnonzero(self.cells.prevs[within] < day_number(since))
        # exact: sums of counts of people and touches stay far below what a float holds to the unit
        yield np.bincount(places[new], people[new], ads).astype(np.int64)
        yield np.bincount(places, self.cells.touches[within], ads).astype(np.int64)


@dataclass(frozen=True)
class ByOrigin:
    """Cells of ads by origin, which are kept together."""

    by_origin: Mapping[str, AdCells]

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(of.places.nbytes + of.cells.size for of in self.by_origin.values())


@dataclass(frozen=True)
class Scope:
    """Whose touches, and through which channel; `all` is every channel."""

    profile_key: int
    channel: str

    def parameters(self, days: DateRange) -> dict[str, object]:
        dates = {"date_from": days.date_from, "date_to": days.date_to}
        return {"profile_key": self.profile_key, "channel": self.channel, **dates}


@dataclass(frozen=True)
class Part:
    """Days of the window that are added up from cells of one kind, which are kept for all days of `kept`."""

    cells: str
    days: DateRange
    kept: DateRange


@dataclass(frozen=True)
class PeopleByAd:
    """Distinct people and their touches by origin, each with a number for each of `ads`."""

    ads: Ads
    people: Mapping[str, Integers]
    touches: Mapping[str, Integers]

    def best(self) -> Integers:
        """Places of the ads that have any: most people first, then most touches, then by id."""
        there = np.flatnonzero(self.touches[ALL])
        return there[np.lexsort((-self.touches[ALL][there], -self.people[ALL][there]))]


def by_ad(reader: Reader, profile_key: int, channel: str, window: DateRange, *, first_only: bool) -> PeopleByAd:
    """Of every ad; a person counts once for each ad, and with `first_only` for the one that was first of all."""
    ads, scope = _ads(reader, profile_key), Scope(profile_key, channel)
    people = {origin: np.zeros(len(ads.keys), dtype=np.int64) for origin in (ALL, *ORIGINS)}
    touches = {origin: zeros.copy() for origin, zeros in people.items()}
    for part in [Part(_OF_FIRSTS, window, EVER)] if first_only else parts(window):
        for origin, cells in _cells(reader, scope, part, window.date_from, ads).by_origin.items():
            new, all_of_them = cells.sums(part.days, window.date_from, len(ads.keys))
            people[origin] += new
            touches[origin] += all_of_them
    return PeopleByAd(ads, people, touches)


def parts(window: DateRange) -> list[Part]:
    """The window cut into its whole months and the days before and after them; what is empty is left out."""
    months = list(window.months())
    whole = [month for month in months if month.is_whole_months()]
    found = [Part(_OF_DAYS, month, _month_of(month)) for month in months if not month.is_whole_months()]
    if whole:
        found.append(Part(_OF_MONTHS, DateRange(whole[0].date_from, whole[-1].date_to), EVER))
    return found


def _month_of(days: DateRange) -> DateRange:
    return DateRange(days.date_from.replace(day=1), last_of_month(days.date_from))


def _ads(reader: Reader, profile_key: int) -> Ads:
    def read(source: Reader) -> Ads:
        keys = source.columns(_ADS, {"profile_key": profile_key})["ad_key"].astype(np.int64, copy=False)
        return Ads(keys, np.argsort(keys))

    return reader.shelf.get(("people_ads", profile_key), read, reader)


def _cells(reader: Reader, scope: Scope, part: Part, since: date, ads: Ads) -> ByOrigin:
    kept = scope.parameters(part.kept)
    found = kept_unless_many(
        reader,
        (part.cells, *kept.values()),
        lambda source: source.rows(_COUNTED.format(cells=part.cells), {**kept, "origin": ALL})[0][0],
        lambda source: _by_origin(source, part.cells, kept, _ads(source, scope.profile_key)),
    )
    if found is not None:
        return found
    here = {**scope.parameters(part.days), "since": since}
    return _by_origin(reader, _SUMMED.format(cells=part.cells), here, ads)


def _by_origin(reader: Reader, sql: str, of: Mapping[str, object], ads: Ads) -> ByOrigin:
    return ByOrigin({origin: _read(reader, sql, {**of, "origin": origin}, ads) for origin in (ALL, *ORIGINS)})


def _read(reader: Reader, sql: str, of: Mapping[str, object], ads: Ads) -> AdCells:
    found, cells = read_cells(reader, sql, of)
    places = ads.by_key[ads.keys.searchsorted(found["ad_key"], sorter=ads.by_key)]
    return AdCells(narrowed(places, len(ads.keys)), cells)
