"""SQL behind experiments: studies of many profiles, and their arms."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from api.reading_across import Across
from api.served import Reader

_LISTED = """
select * from experiments
where profile_key = any($keys)
    and ($kind is null or kind = $kind)
    and ($status is null or status = $status)
    and ($after_date is null or start_date < $after_date
        or (start_date = $after_date and experiment_id > $after_id))
order by start_date desc, experiment_id
limit $most
"""

_ARMS = """
select * from experiment_arms
where profile_key = any($keys) and experiment_id = any($experiments)
order by experiment_id, arm_id
"""

_FINISHED = """
select profiles.profile_id, studies.experiment_id
from experiments as studies
join profiles using (profile_key)
where studies.status = 'finished'
"""


def listed(
    source: Across, kind: str | None, status: str | None, *, after: Sequence[Any] | None, most: int
) -> list[dict[str, Any]]:
    """Up to `most` studies after the position (start_date, experiment_id) of the last one given."""
    asked = {"keys": _keys(source), "kind": kind, "status": status, "most": most}
    place = {"after_date": date.fromisoformat(after[0]) if after else None, "after_id": after[1] if after else None}
    return source.reader.dicts(_LISTED, {**asked, **place})


def arms_of(source: Across, experiments: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The arms by study, in the order of their ids."""
    arms: dict[str, list[dict[str, Any]]] = {}
    for row in source.reader.dicts(_ARMS, {"keys": _keys(source), "experiments": list(experiments)}):
        arms.setdefault(row["experiment_id"], []).append(row)
    return arms


def built_at(source: Across) -> datetime:
    """When the snapshot, and with it every result of ours, was computed."""
    ((at,),) = source.reader.rows("select built_at from snapshot")
    found: datetime = at
    return found.astimezone(UTC)


def finished(reader: Reader) -> list[tuple[str, str]]:
    """(profile_id, experiment_id) of every study that is over, of all profiles."""
    return [(profile_id, experiment_id) for profile_id, experiment_id in reader.rows(_FINISHED)]


def _keys(source: Across) -> list[int]:
    return [one.profile_key for one in source.profiles]
