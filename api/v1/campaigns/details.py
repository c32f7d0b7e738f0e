"""What is told of an entity beside its figures: ids, names, status, budget, parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.served import ProfileFacts, Reader

TOLD = (
    "entity_id", "platform", "platform_id", "name", "status", "objective", "daily_budget_minor", "budget_currency",
    "parent_name", "campaign_platform_id", "ad_set_platform_id",
)  # fmt: skip
# of a larger level only those of a page are read, each time; so many take about six megabytes and 50 ms
MOST_KEPT = 20_000
# what a key and its place take beside its text, and what both take as a rule
OVERHEAD, USUAL = 150, 300

_OF_LEVEL = "from entities where profile_key = $profile_key and level = $level"
_COUNTED = f"select count(*) {_OF_LEVEL}"
_READ = f"select entity_key, {', '.join(TOLD)} {_OF_LEVEL}"
_SOME = f"{_READ} and entity_key = any($keys)"


@dataclass(frozen=True)
class Details:
    """Of every entity of a level by its key, as JSON, a fifth of what the objects would take; None for too many."""

    written: Mapping[int, bytes] | None

    @property
    def size(self) -> int:
        """Bytes held, as many as it comes to."""
        return sum(OVERHEAD + len(text) for text in (self.written or {}).values())


def add_details(reader: Reader, profile: ProfileFacts, level: str, rows: Sequence[dict[str, Any]]) -> None:
    """Give each row, of one `entity_key`, what is told of its entity."""
    if not rows:
        return
    named = {"profile_key": profile.profile_key, "level": level}
    place = ("details", profile.profile_key, level)
    kept = reader.shelf.get(place, lambda source: _read(source, named), reader).written
    if kept is None:
        keys = [row["entity_key"] for row in rows]
        found = {key: told for key, *told in reader.rows(_SOME, {**named, "keys": keys})}
    else:
        found = {row["entity_key"]: orjson.loads(kept[row["entity_key"]]) for row in rows}
    for row in rows:
        row.update(zip(TOLD, found[row["entity_key"]], strict=True))


def _read(reader: Reader, named: Mapping[str, object]) -> Details:
    rows = reader.rows(_COUNTED, named)[0][0]
    if rows > MOST_KEPT or not reader.shelf.has_room(USUAL * rows):
        return Details(None)
    return Details({key: orjson.dumps(told) for key, *told in reader.rows(_READ, named)})
