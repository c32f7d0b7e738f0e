"""The entities of a window, best first: by cash, payments, conversions and spend, and then by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from api.running_totals import Figures, Integers, Table, sums_by_entity, together
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
# what is counted over several outcomes
COUNTED = {"payments": CASH_OUTCOMES, "conversions": OUTCOMES}
NOTHING = dict.fromkeys((*DELIVERY.measures, *CREDIT.measures, *COUNTED), 0)
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
    figures: Figures
    total: int

    def dicts(self) -> list[dict[str, Any]]:
        """Measures by name, and `entity_key`; conversations are None where no platform tells them."""
        found = []
        for key, values in zip(self.keys.tolist(), self.figures.table.T.tolist(), strict=True):
            row = {"entity_key": key, **NOTHING, "rows_total": self.total}
            row.update(zip(self.figures.names, values, strict=True))
            if not row.pop("told_conversations"):
                row["conversations"] = None
            found.append(row)
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
    parts = [sums_by_entity(reader, table, named, window) for table in (DELIVERY, CREDIT)]
    at, figures = together(known.keys, parts, COUNTED)
    seen = np.flatnonzero(figures.rows(SEEN).any(axis=0))
    if any(parents.values()):
        seen = seen[np.isin(known.keys[at[seen]], _children(reader, profile, level, parents))]
    # every row of the sort key ascends
    order = np.empty((len(RANKED_BY) + 1, len(seen)), dtype=np.int64)
    for row, name in zip(order, RANKED_BY, strict=False):
        row[:] = -figures.row(name, seen)
    order[-1] = known.nth[at[seen]]
    total = len(seen)
    if after is not None:
        *measures, entity_id = after
        up_to = reader.rows(_UP_TO, {**_level(profile, level), "entity_id": entity_id})[0][0]
        later = _greater(order, [*measures, up_to])
        seen, order = seen[later], order[:, later]
    best = seen[_least(order, most)]
    return Ranked(known.keys[at[best]], figures.of(best), total)


def entities(reader: Reader, profile: ProfileFacts, level: str) -> Entities:
    """The entities of a level, in ascending order of their keys."""

    def read(source: Reader) -> Entities:
        found = source.columns(_INDEX, _level(profile, level))
        return Entities(found["entity_key"].astype(np.int64), found["nth"].astype(np.int64))

    return reader.shelf.get(("entities", profile.profile_key, level), read, reader)


def _children(reader: Reader, profile: ProfileFacts, level: str, parents: dict[str, str | None]) -> list[int]:
    return [key for (key,) in reader.rows(_CHILDREN, {**_level(profile, level), **parents})]


def _greater(order: Integers, than: Sequence[int]) -> Any:
    """Which columns come after this one, row by row."""
    later = np.zeros(order.shape[1], dtype=bool)
    for row, value in reversed(list(zip(order, than, strict=True))):
        later = (row > value) | ((row == value) & later)
    return later


def _least(order: Integers, most: int) -> Integers:
    """The first `most` columns in ascending order of their rows."""
    if order.shape[1] <= 2 * most:
        return np.asarray(np.lexsort(order[::-1])[:most], dtype=np.int64)
    # what is beyond the last place by the first row alone need not be sorted
    candidates = np.flatnonzero(order[0] <= np.partition(order[0], most - 1)[most - 1])
    return candidates.take(np.lexsort(order[::-1, candidates])[:most])


def _level(profile: ProfileFacts, level: str) -> dict[str, object]:
    return {"profile_key": profile.profile_key, "level": level}
