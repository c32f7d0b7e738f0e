"""SQL behind the campaign reads: credit and delivery of one profile, one model, one level, one window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.served import ALL_OUTCOMES, OUTCOMES, ProfileFacts, Reader
from api.v1.campaigns import ranking
from api.v1.campaigns.details import add_details
from api.windows import DateRange

_SUMMED_COUNTS = ", ".join(f"sum({name}) as {name}" for name in OUTCOMES)
_SUMMED_OR_ZERO = ", ".join(f"coalesce(sum({name}), 0)" for name in OUTCOMES)
_REACH = """
select
    entity_key,
    max(reach) filter (where date_from = $date_from and date_to = $date_to) as exact,
    max(reach) as at_least
from entity_reach
where profile_key = $profile_key and level = $level and entity_key = any($keys)
    and date_from >= $date_from and date_to <= $date_to
group by entity_key
"""

_IS_MEASURED = "select exists (from entity_reach where profile_key = $profile_key and level = $level)"

TREND = """
select entities.entity_id, delivery_daily.day, delivery_daily.spend_minor, delivery_daily.impressions,
    delivery_daily.clicks
from entities
left join delivery_daily
    on delivery_daily.entity_key = entities.entity_key
    and delivery_daily.profile_key = $profile_key and delivery_daily.level = $level
    and delivery_daily.day between $date_from and $date_to
where entities.profile_key = $profile_key and entities.level = $level and entities.entity_id = any($entity_ids)
"""

_UNATTRIBUTED = f"""
select reason, sum(cash_minor) as cash_minor, {_SUMMED_COUNTS}
from unattributed_daily
where profile_key = $profile_key and model = $model and level = $level and day between $date_from and $date_to
group by reason
union all
select 'profile_total', coalesce(sum(cash_minor), 0), {_SUMMED_OR_ZERO}
from outcomes_daily
where profile_key = $profile_key and day between $date_from and $date_to
"""  # noqa: S608 - as above

_OWN = f"""
select entity_key, custom_type, sum({ALL_OUTCOMES}) as n
from credit_daily
where profile_key = $profile_key and model = $model and level = $level and day between $date_from and $date_to
    and custom_type <> '' and entity_key = any($keys)
group by entity_key, custom_type
"""  # noqa: S608 - as above

_OWN_UNATTRIBUTED = f"""
select reason, custom_type, sum({ALL_OUTCOMES}) as n
from unattributed_daily
where profile_key = $profile_key and model = $model and level = $level and day between $date_from and $date_to
    and custom_type <> ''
group by reason, custom_type
union all
select 'profile_total', custom_type, sum({ALL_OUTCOMES})
from outcomes_daily
where profile_key = $profile_key and day between $date_from and $date_to and custom_type <> ''
group by custom_type
"""  # noqa: S608 - as above


@dataclass(frozen=True)
class Slice:
    """What one report is about: a window and a level, and the model where credit is read."""

    window: DateRange
    level: str
    model: str | None = None

    def parameters(self, profile: ProfileFacts) -> dict[str, object]:
        chosen = {"model": self.model} if self.model else {}
        dates = {"date_from": self.window.date_from, "date_to": self.window.date_to}
        return {"profile_key": profile.profile_key, "level": self.level, **dates, **chosen}


@dataclass(frozen=True)
class IsMeasured:
    """Whether any platform told how many people the entities of a level reached."""

    any: bool
    size: int = 8


def ranked_page(
    reader: Reader,
    profile: ProfileFacts,
    of: Slice,
    *,
    most: int,
    after: Sequence[Any] | None,
    campaign: str | None,
    ad_set: str | None,
) -> list[dict[str, Any]]:
    """Up to `most` entities with spend, impressions or credit, best first; each also holds `rows_total`.

    `after` is the `position` of the last row already given.
    """
    best = ranking.ranked(
        reader,
        profile,
        level=of.level,
        model=of.model or "",
        window=of.window,
        most=most,
        after=after,
        parents={"campaign": campaign, "ad_set": ad_set},
    )
    found = best.dicts()
    add_details(reader, profile, of.level, found)
    add_own(reader, profile, of, found)
    return found


def add_own(reader: Reader, profile: ProfileFacts, of: Slice, rows: Sequence[dict[str, Any]]) -> None:
    """Give each row, of one `entity_key`, its counts by the profile's own goals, as `own`."""
    some = [row["entity_key"] for row in rows if has_own(row)]
    found = reader.rows(_OWN, {**of.parameters(profile), "keys": some}) if some else []
    counts = by_place(found)
    for row in rows:
        row["own"] = counts.get(row["entity_key"], {})


def has_own(sums: Mapping[str, Any]) -> bool:
    """Whether outcomes of the profile's own goals are among the counts."""
    return any(sums[name] for name in OUTCOMES if name.startswith("custom_"))


def by_place(found: Sequence[tuple[Any, str, int]]) -> dict[Any, dict[str, int]]:
    """Counts by type of each place, types in order; a type with none is absent.

    There may be money without a count: what no entity has of a conversion that counts where some entity has the rest.
    """
    counts: dict[Any, dict[str, int]] = {}
    for place, name, n in sorted(found, key=lambda row: row[1]):
        if n:
            counts.setdefault(place, {})[name] = int(n)
    return counts


def position(row: Mapping[str, Any]) -> list[Any]:
    """Where a row stands in the ranking: its sort key, ascending."""
    return [*(-row[name] for name in ranking.RANKED_BY), row["entity_id"]]


def reach_of(
    reader: Reader, profile: ProfileFacts, of: Slice, entity_keys: Sequence[int]
) -> dict[int, tuple[int, str]]:
    """Per entity the people reached and whether that is `exact` for the window or only `at_least`."""
    named = {"profile_key": profile.profile_key, "level": of.level}

    def read(source: Reader) -> IsMeasured:
        return IsMeasured(bool(source.rows(_IS_MEASURED, named)[0][0]))

    measured = reader.shelf.get(("reach", *named.values()), read, reader)
    if not measured.any:
        return {}
    found = reader.rows(_REACH, {**replace(of, model=None).parameters(profile), "keys": list(entity_keys)})
    return {key: (least, "at_least") if exact is None else (exact, "exact") for key, exact, least in found}


def trend(reader: Reader, profile: ProfileFacts, of: Slice, entity_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Delivery per day of each entity the profile has at this level: every day, entities in the order asked."""
    found = reader.rows(TREND, {**of.parameters(profile), "entity_ids": list(entity_ids)})
    known = {row[0] for row in found}
    measured = {(entity_id, day): figures for entity_id, day, *figures in found}
    return [
        dict(zip(("entity_id", "day", "spend_minor", "impressions", "clicks"), (one, day, *figures), strict=True))
        for one in entity_ids
        if one in known
        for day in of.window.days()
        for figures in (measured.get((one, day), (0, 0, 0)),)
    ]


def unattributed(reader: Reader, profile: ProfileFacts, of: Slice) -> dict[str, dict[str, Any]]:
    """Sums by reason, and the profile's own under `profile_total`; a reason without rows is absent."""
    found = {row.pop("reason"): row for row in reader.dicts(_UNATTRIBUTED, of.parameters(profile))}
    if any(map(has_own, found.values())):
        own = by_place(reader.rows(_OWN_UNATTRIBUTED, of.parameters(profile)))
        for reason, row in found.items():
            row["own"] = own.get(reason, {})
    return found
