"""The entities of a window, best first: by cash, payments, conversions and spend, and then by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from api.running_totals import Integers, Sums, Table, sums_by_entity, together
from api.served import CASH_OUTCOMES, OUTCOMES, ProfileFacts, Reader
from api.windows import DateRange

DELIVERY = Table(
    "delivery_daily",
    ("profile_key", "level"),
    {
        "spend_minor": "spend_minor",
        "impressions": "impressions",
        "clicks": "clicks",
        "conversations": "coalesce(messaging_conversations_started_7d, 0)",
        "told_conversations": "case when messaging_conversations_started_7d is null then 0 else 1 end",
    },
)
CREDIT = Table(
    "credit_daily",
    ("profile_key", "model", "level"),
    {
        "cash_minor": "cash_minor",
        **{outcome: outcome for outcome in OUTCOMES},
    },
)
SUMMED = (*DELIVERY.measures, *CREDIT.measures)
MEASURES = (*SUMMED, "payments", "conversions")
_AT = {name: number for number, name in enumerate(MEASURES)}
RANKED_BY = ("cash_minor", "payments", "conversions", "spend_minor")
# an entity with any of these has a row
SEEN = ("spend_minor", "impressions", "conversions", "cash_minor")

DETAILS = (
    "entity_id", "platform", "platform_id", "name", "status", "objective", "daily_budget_minor", "budget_currency",
    "parent_name", "campaign_platform_id", "ad_set_platform_id",
)  # fmt: skip
# names of so many entities are kept for each level of a profile, about a kilobyte each
MOST_NAMED = 2_000

_OF_LEVEL = "from entities where profile_key = $profile_key and level = $level"
_INDEX = f"select entity_key, row_number() over (order by entity_id) as nth {_OF_LEVEL} order by entity_key"
_DETAILS = f"select entity_key, {', '.join(DETAILS)} {_OF_LEVEL} and entity_key = any($keys)"
_CHILDREN = f"""
select entity_key {_OF_LEVEL}
    and ($campaign is null or campaign_platform_id = $campaign)
    and ($ad_set is null or ad_set_platform_id = $ad_set)
"""
_UP_TO = f"select count(*) {_OF_LEVEL} and entity_id <= $entity_id"


@dataclass(frozen=True)
class Entities:
    """All of one level: `keys` ascending, `nth` the place of each id among all ids; what was asked of them by key."""

    keys: Integers
    nth: Integers
    details: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes held, as many as it comes to."""
        return self.keys.nbytes + self.nth.nbytes + 1024 * min(len(self.keys), MOST_NAMED)


@dataclass(frozen=True)
class Ranked:
    """Up to as many rows as were asked for, best first, and how many there are on all pages."""

    keys: Integers
    values: Integers
    total: int

    def dicts(self) -> list[dict[str, Any]]:
        """Measures by name, and `entity_key`; conversations are None where no platform tells them."""
        found = []
        for key, values in zip(self.keys.tolist(), self.values.tolist(), strict=True):
            row = dict(zip(MEASURES, values, strict=True))
            if not row.pop("told_conversations"):
                row["conversations"] = None
            found.append({"entity_key": key, **row, "rows_total": self.total})
        return found


def ranked(
    reader: Reader,
    profile: ProfileFacts,
    *,
    level: str,
    model: str,
    window: DateRange,
    most: int,
    after: Sequence[Any] | None,
    parents: dict[str, str | None],
) -> Ranked:
    """The best of the level; `after` is the sort key of the last row already given, ascending, `parents` narrow it."""
    named = {"profile_key": profile.profile_key, "level": level, "model": model}
    known = entities(reader, profile, level)
    delivered, credited = (sums_by_entity(reader, table, named, window) for table in (DELIVERY, CREDIT))
    all_, nth = _known(_counted(together(delivered, credited)), known)
    seen = all_.values[:, [_AT[name] for name in SEEN]].any(axis=1)
    if any(parents.values()):
        seen &= np.isin(all_.keys, _children(reader, profile, level, parents))
    keys, values, nth = all_.keys[seen], all_.values[seen], nth[seen]
    # every number of the sort key ascends
    order = np.column_stack([-values[:, [_AT[name] for name in RANKED_BY]], nth])
    total = len(keys)
    if after is not None:
        *measures, entity_id = after
        up_to = reader.rows(_UP_TO, {**_level(profile, level), "entity_id": entity_id})[0][0]
        later = _greater(order, [*measures, up_to])
        keys, values, order = keys[later], values[later], order[later]
    best = _least(order, most)
    return Ranked(keys[best], values[best], total)


def entities(reader: Reader, profile: ProfileFacts, level: str) -> Entities:
    """The entities of a level, in ascending order of their keys."""

    def read() -> Entities:
        found = reader.columns(_INDEX, _level(profile, level))
        return Entities(found["entity_key"].astype(np.int64), found["nth"].astype(np.int64))

    return reader.shelf.get(("entities", profile.profile_key, level), read)


def add_details(reader: Reader, profile: ProfileFacts, level: str, rows: Sequence[dict[str, Any]]) -> None:
    """Give each row, of one `entity_key`, what is told of its entity."""
    known = entities(reader, profile, level).details
    # read once: another thread may empty it meanwhile
    have = {key: known.get(key) for key in (row["entity_key"] for row in rows)}
    lacking = [key for key, details in have.items() if details is None]
    if lacking:
        more = {key: tuple(row) for key, *row in reader.rows(_DETAILS, {**_level(profile, level), "keys": lacking})}
        have.update(more)
        if len(known) + len(more) > MOST_NAMED:
            known.clear()
        if len(more) <= MOST_NAMED:
            known.update(more)
    for row in rows:
        row.update(zip(DETAILS, have[row["entity_key"]] or (), strict=True))


def _counted(sums: Sums) -> Sums:
    """With what is counted over several outcomes: payments, and conversions of any kind."""
    counts = [sums.values[:, [_AT[name] for name in names]].sum(axis=1) for names in (CASH_OUTCOMES, OUTCOMES)]
    return Sums(sums.keys, np.column_stack([sums.values, *counts]))


def _known(sums: Sums, known: Entities) -> tuple[Sums, Integers]:
    """Those that the snapshot names, and the place of each one's id among all."""
    at = np.searchsorted(known.keys, sums.keys)
    inside = at < len(known.keys)
    inside[inside] = known.keys[at[inside]] == sums.keys[inside]
    return Sums(sums.keys[inside], sums.values[inside]), known.nth[at[inside]]


def _children(reader: Reader, profile: ProfileFacts, level: str, parents: dict[str, str | None]) -> list[int]:
    return [key for (key,) in reader.rows(_CHILDREN, {**_level(profile, level), **parents})]


def _greater(order: Integers, than: Sequence[int]) -> Any:
    """Which rows come after this one, column by column."""
    later = np.zeros(len(order), dtype=bool)
    for column, value in reversed(list(enumerate(than))):
        later = (order[:, column] > value) | ((order[:, column] == value) & later)
    return later


def _least(order: Integers, most: int) -> Integers:
    """The first `most` rows in ascending order."""
    candidates = np.arange(len(order))
    if len(order) > 2 * most:
        # what is beyond the last place by the first column alone need not be sorted
        candidates = np.flatnonzero(order[:, 0] <= np.partition(order[:, 0], most - 1)[most - 1])
    columns = order[candidates]
    return candidates[np.lexsort(columns.T[::-1])][:most]


def _level(profile: ProfileFacts, level: str) -> dict[str, object]:
    return {"profile_key": profile.profile_key, "level": level}
