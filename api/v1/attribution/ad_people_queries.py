"""SQL behind ad-people: distinct people of any window, as sums over cells of (day, the same people's day before).

A person with ad touches in a window has exactly one day in it whose day before lies outside, so the sum of `people`
over the cells with `day` in the window and `prev` before it is the count of distinct people. Cells that were cut by
channel, origin or ad know the day before in that cut, so each scope is read alone and scopes are never added. Of ads,
months that lie wholly in the window are read from cells of months: fewer, with the same sums. Cells of all ads together
are kept in memory (`kept_cells.py`) unless there are too many of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from api.served import ProfileFacts, Reader
from api.v1.attribution import kept_cells
from api.v1.attribution.kept_cells import ALL
from api.windows import DateRange

GROUPINGS = ("month", "day", "ad")

_OF_WINDOW = "profile_key = $profile_key and day between $date_from and $date_to"

_CELLS_OF_ADS = """
select origin, ad_key, prev, people, touches from {table}
where profile_key = $profile_key and channel = $channel and {day} between ${part}_from and ${part}_to
"""

# the earliest ad touch of a person is counted once, so it needs no day before, and origins add up
_FIRSTS = f"""
select {{origin}} as origin, ad_key, day, cast('0001-01-01' as date) as prev, people, people as touches
from people_first where {_OF_WINDOW} and $channel in ('all', channel)
"""  # noqa: S608 - constants; values are bound

_BEST_ADS = """
select ranked.*, people_ads.ad_id, people_ads.ad_name, people_ads.entity_key, count(*) over () as ads_total
from (
    select ad_key, sum(people) filter (where prev < $date_from) as people, sum(touches) as touches
    from ({source}) as cells
    where origin = 'all'
    group by ad_key
) as ranked
join people_ads on people_ads.ad_key = ranked.ad_key
where people_ads.profile_key = $profile_key
order by ranked.people desc, ranked.touches desc, people_ads.ad_id
limit $most
"""

_ORIGINS_OF_ADS = """
select ad_key, origin, sum(people) filter (where prev < $date_from) as people, sum(touches) as touches
from ({source}) as cells
where origin <> 'all' and ad_key = any($keys)
group by ad_key, origin
"""

_CONVERSATIONS_OF_ADS = f"""
select entity_key, sum(messaging_conversations_started_7d) as started
from delivery_daily where {_OF_WINDOW} and level = 'ad' and entity_key = any($keys)
group by entity_key
"""  # noqa: S608 - as above


class Count(NamedTuple):
    """Distinct people and their ad touches."""

    people: int
    touches: int


NOBODY = Count(0, 0)


@dataclass(frozen=True)
class Asked:
    """What one report is about; `channel` None is every channel."""

    window: DateRange
    group_by: str
    channel: str | None
    first_only: bool

    @property
    def buckets(self) -> list[DateRange]:
        """The buckets of time in order; by ad, the one that the whole window is."""
        if self.group_by == "day":
            return [DateRange(day, day) for day in self.window.days()]
        return list(self.window.months()) if self.group_by == "month" else [self.window]

    def parameters(self, profile: ProfileFacts) -> dict[str, object]:
        dates = {"date_from": self.window.date_from, "date_to": self.window.date_to}
        return {"profile_key": profile.profile_key, "channel": self.channel or ALL, **dates}

    def of_ads(self, profile: ProfileFacts, *, firsts_of: str) -> tuple[str, dict[str, object]]:
        """The rows that counts of ads are sums of, as SQL, and its parameters.

        Firsts are counted once for each origin, or once more as those of all: `firsts_of` is SQL for which.
        """
        if self.first_only:
            return _FIRSTS.format(origin=firsts_of), self.parameters(profile)
        parts = _parts(self.window)
        sql = "union all".join(
            _CELLS_OF_ADS.format(part=name, table="people_months_ad", day="month")
            if name == "months"
            else _CELLS_OF_ADS.format(part=name, table="people_cells_ad", day="day")
            for name in parts
        )
        dates = {f"{name}_{end}": day for name, part in parts.items() for end, day in _ends(part)}
        return sql, _without(self.parameters(profile), "date_to") | dates


def _parts(window: DateRange) -> dict[str, DateRange]:
    """The window cut into its whole months and the days before and after them; what is empty is left out."""
    months = list(window.months())
    whole = [month for month in months if month.is_whole_months()]
    if not whole:
        return {"head": window}
    parts = {"head": months[0], "months": DateRange(whole[0].date_from, whole[-1].date_to), "tail": months[-1]}
    return {name: part for name, part in parts.items() if name == "months" or not part.is_whole_months()}


def _ends(part: DateRange) -> Iterator[tuple[str, date]]:
    yield "from", part.date_from
    yield "to", part.date_to


@dataclass(frozen=True)
class Times:
    """Counts per (start of the bucket, origin), and of the whole window per origin; `all` is every origin."""

    buckets: dict[tuple[date, str], Count]
    totals: dict[str, Count]

    def add(self, bucket: date, origin: str, count: Count, new_people: int) -> None:
        """Add what one row counts; `new_people` are those the window had not seen before the bucket."""
        here, whole = self.buckets.get((bucket, origin), NOBODY), self.totals.get(origin, NOBODY)
        self.buckets[bucket, origin] = Count(here.people + count.people, here.touches + count.touches)
        self.totals[origin] = Count(whole.people + new_people, whole.touches + count.touches)


def by_time(reader: Reader, profile: ProfileFacts, asked: Asked) -> Times:
    """Counts per month or day that has any, and of the whole window; grouped by ad, of the whole window alone."""
    channel, times = asked.channel or ALL, Times({}, {})
    if asked.first_only:
        cells = kept_cells.firsts(reader, profile.profile_key, channel)
    else:
        cells = kept_cells.cells(reader, profile.profile_key, channel, asked.window)
    for bucket, origin, people, touches, new_people in cells.rows(asked.buckets):
        times.add(bucket, origin, Count(people, touches), new_people)
    return times


def best_ads(reader: Reader, profile: ProfileFacts, asked: Asked, *, most: int) -> list[dict[str, Any]]:
    """Up to `most` ads with people, most people first; each row also holds `ads_total`."""
    source, parameters = asked.of_ads(profile, firsts_of="'all'")
    return reader.dicts(_BEST_ADS.format(source=source), {**parameters, "most": most})


def origins_of_ads(
    reader: Reader, profile: ProfileFacts, asked: Asked, ad_keys: Sequence[int]
) -> dict[tuple[int, str], Count]:
    """Counts per (ad_key, origin)."""
    source, parameters = asked.of_ads(profile, firsts_of="origin")
    found = reader.rows(_ORIGINS_OF_ADS.format(source=source), {**parameters, "keys": list(ad_keys)})
    return {(ad_key, origin): Count(people, touches) for ad_key, origin, people, touches in found}


def conversations(reader: Reader, profile: ProfileFacts, asked: Asked) -> dict[date, int]:
    """The platforms' own count per bucket on whose days any platform told one, by the ad account's day."""
    rows = kept_cells.started(reader, profile.profile_key).rows(asked.buckets)
    return {bucket: count for bucket, _, count, *_ in rows}


def conversations_of_ads(
    reader: Reader, profile: ProfileFacts, asked: Asked, entity_keys: Sequence[int]
) -> dict[int, int | None]:
    """The platforms' own count per synced ad of `entity_keys` with delivery in the window."""
    bound = {**_without(asked.parameters(profile), "channel"), "keys": list(entity_keys)}
    return dict(reader.rows(_CONVERSATIONS_OF_ADS, bound))


def _without(parameters: dict[str, object], unused: str) -> dict[str, object]:
    return {name: value for name, value in parameters.items() if name != unused}
