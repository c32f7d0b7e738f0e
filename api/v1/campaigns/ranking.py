"""The entities of a window, best first: by cash, payments, conversions and spend, and then by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from api.running_totals import Integers, Table, sums_by_entity, together
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
# what is counted over several outcomes
COUNTED = {"payments": CASH_OUTCOMES, "conversions": OUTCOMES}
RANKED_BY = ("cash_minor", "payments", "conversions", "spend_minor")
# an entity with any of these has a row
SEEN = ("spend_minor", "impressions", "conversions", "cash_minor")

_OF_LEVEL = "from entities where profile_key = $profile_key and level = $level"
_INDEX = f"select entity_key, row_number() over (order by entity_id) as nth {_OF_LEVEL} order by entity_key"
_CHILDREN = f"""
select entity_key {_OF_LEVEL}
    and ($campaign is null or campaign_platform_id = $campaign)
    and ($ad_set is null or ad_set_platform_id = $ad_set)
"""
_UP_TO = f"select count(*) {_OF_LEVEL} and entity_id <= $entity_id"


@dataclass(frozen=True)
class Entities:
    """All of one level: `keys` ascending, `nth` the place of each id among all ids."""

    keys: Integers
    nth: Integers

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.keys.nbytes + self.nth.nbytes


@dataclass(frozen=True)
class Ranked:
    """Up to as many rows as were asked for, best first, and how many there are on all pages."""

    keys: Integers
    sums: Mapping[str, Integers]
    total: int

    def dicts(self) -> list[dict[str, Any]]:
        """Measures by name, and `entity_key`; conversations are None where no platform tells them."""
        found = []
        by_row = zip(*(column.tolist() for column in self.sums.values()), strict=True)
        for key, values in zip(self.keys.tolist(), by_row, strict=True):
            row = dict(zip(self.sums, values, strict=True))
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
    parts = (sums_by_entity(reader, table, named, window) for table in (DELIVERY, CREDIT))
    at, columns = together(known.keys, *parts)
    sums = _counted(columns, len(at))
    seen = np.flatnonzero(np.logical_or.reduce([sums[name] != 0 for name in SEEN]))
    if any(parents.values()):
        seen = seen[np.isin(known.keys[at[seen]], _children(reader, profile, level, parents))]
    # every number of the sort key ascends
    order = np.column_stack([*(-sums[name][seen] for name in RANKED_BY), known.nth[at[seen]]])
    total = len(seen)
    if after is not None:
        *measures, entity_id = after
        up_to = reader.rows(_UP_TO, {**_level(profile, level), "entity_id": entity_id})[0][0]
        later = _greater(order, [*measures, up_to])
        seen, order = seen[later], order[later]
    best = seen[_least(order, most)]
    return Ranked(known.keys[at[best]], {name: column[best] for name, column in sums.items()}, total)


def entities(reader: Reader, profile: ProfileFacts, level: str) -> Entities:
    """The entities of a level, in ascending order of their keys."""

    def read(source: Reader) -> Entities:
        found = source.columns(_INDEX, _level(profile, level))
        return Entities(found["entity_key"].astype(np.int64), found["nth"].astype(np.int64))

    return reader.shelf.get(("entities", profile.profile_key, level), read, reader)


def _counted(columns: Mapping[str, Integers], rows: int) -> dict[str, Integers]:
    """Every measure, 0 where there is no column, with what is counted over several of them."""
    nothing = np.zeros(rows, dtype=np.int64)
    counts = {name: sum((columns[one] for one in of if one in columns), nothing) for name, of in COUNTED.items()}
    return {**{name: columns.get(name, nothing) for name in SUMMED}, **counts}


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
