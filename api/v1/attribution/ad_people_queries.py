"""SQL behind ad-people: distinct people of any window, as sums over cells of (day, the same people's day before).

A person with ad touches in a window has exactly one day in it whose day before lies outside, so the sum of `people`
over the cells with `day` in the window and `prev` before it is the count of distinct people. Cells that were cut by
channel, origin or ad know the day before in that cut, so each scope is read alone and scopes are never added. Cells are
kept in memory (`kept_cells.py` those of all ads together, `kept_ads.py` those of each) unless there are too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple

from api.served import ORIGINS, ProfileFacts, Reader
from api.v1.attribution import kept_ads, kept_cells
from api.v1.attribution.kept_cells import ALL
from api.windows import DateRange

GROUPINGS = ("month", "day", "ad")

_NAMED = """
select ad_key, ad_id, ad_name, entity_key from people_ads where profile_key = $profile_key and ad_key = any($keys)
"""

_CONVERSATIONS_OF_ADS = """
select entity_key, sum(messaging_conversations_started_7d) as started
from delivery_daily
where profile_key = $profile_key and day between $date_from and $date_to and level = 'ad' and entity_key = any($keys)
group by entity_key
"""


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

    @cached_property
    def buckets(self) -> list[DateRange]:
        """The buckets of time in order; by ad, the one that the whole window is."""
        if self.group_by == "day":
            return [DateRange(day, day) for day in self.window.days()]
        return list(self.window.months()) if self.group_by == "month" else [self.window]


class AdCount(NamedTuple):
    """One ad: its counts by origin, the platform's id, and name and key of the synced ad if there is exactly one."""

    counts: dict[str, Count]
    ad_id: str
    ad_name: str | None
    entity_key: int | None


@dataclass(frozen=True)
class Times:
    """Counts by origin, of each bucket by its start and of the whole window; `all` is every origin."""

    buckets: dict[date, dict[str, Count]]
    totals: dict[str, Count]


def by_time(reader: Reader, profile: ProfileFacts, asked: Asked) -> Times:
    """Counts per month or day that has any, and of the whole window; grouped by ad, of the whole window alone."""
    channel = asked.channel or ALL
    if asked.first_only:
        cells = kept_cells.firsts(reader, profile.profile_key, channel)
    else:
        cells = kept_cells.cells(reader, profile.profile_key, channel, asked.window)
    times = Times({}, {})
    # a bucket and origin come once, with the people whom the window had not seen before that bucket
    for bucket, origin, people, touches, new_people in cells.rows(asked.buckets):
        times.buckets.setdefault(bucket, {})[origin] = Count(people, touches)
        whole = times.totals.get(origin, NOBODY)
        times.totals[origin] = Count(whole.people + new_people, whole.touches + touches)
    return times


def best_ads(reader: Reader, profile: ProfileFacts, asked: Asked, *, most: int) -> tuple[list[AdCount], int]:
    """Up to `most` ads with people, most people first, and how many there are."""
    found = kept_ads.by_ad(reader, profile.profile_key, asked.channel or ALL, asked.window, first_only=asked.first_only)
    best = found.best()
    keys = found.ads.keys[best[:most]].tolist()
    bound = {"profile_key": profile.profile_key, "keys": keys}
    named = {ad_key: names for ad_key, *names in reader.rows(_NAMED, bound)} if keys else {}
    counts = [
        {
            origin: Count(int(found.people[origin][place]), int(found.touches[origin][place]))
            for origin in (ALL, *ORIGINS)
        }
        for place in best[:most]
    ]
    return [AdCount(of, *named[key]) for key, of in zip(keys, counts, strict=True)], len(best)


def conversations(reader: Reader, profile: ProfileFacts, asked: Asked) -> dict[date, int]:
    """The platforms' own count per bucket on whose days any platform told one, by the ad account's day."""
    rows = kept_cells.started(reader, profile.profile_key).rows(asked.buckets)
    return {bucket: count for bucket, _, count, *_ in rows}


def conversations_of_ads(
    reader: Reader, profile: ProfileFacts, asked: Asked, entity_keys: Sequence[int]
) -> dict[int, int | None]:
    """The platforms' own count per synced ad of `entity_keys` with delivery in the window."""
    bound = {
        "profile_key": profile.profile_key,
        "date_from": asked.window.date_from,
        "date_to": asked.window.date_to,
        "keys": list(entity_keys),
    }
    return dict(reader.rows(_CONVERSATIONS_OF_ADS, bound))
