"""One read of the published figures over several profiles of a workspace: which of them, the ETag and the `meta`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from api import auth, context, db, errors, pagination, reach, responses
from api.models import Profile
from api.reading import digest, timestamp
from api.served import Reader
from api.snapshot import SnapshotReader, snapshots

_BUILT = """
select profile_key, profile_id, currency, currency_digits as digits, settings_version, data_as_of
from profiles where profile_id = any($ids)
"""


@dataclass(frozen=True)
class Built:
    """One profile as a snapshot knows it; `digits` = decimals of its reporting currency, `name` is today's."""

    profile_key: int
    profile_id: str
    name: str
    currency: str
    digits: int
    settings_version: str
    data_as_of: datetime | None


@dataclass(frozen=True)
class Across:
    """Where a read over profiles finds its figures: an open snapshot, and the profiles that it knows."""

    reader: Reader
    profiles: Sequence[Built]


def opened(workspace_id: str, named: Sequence[str] | None) -> list[Profile]:
    """The profiles asked for, by name; 404 not_found when one of those named is not the caller's to open.

    Without names all that the caller can open; a `profile_id` in the query leaves only that one.
    """
    wanted = openable(workspace_id)
    if named is not None:
        wanted = wanted.where(Profile.id.in_(named))
    with db.transaction(context.settings().operational_url, durable=False) as reading:
        found = list(reading.scalars(wanted.order_by(Profile.name, Profile.id)))
    if named is not None and len(found) < len(named):
        raise errors.NOT_FOUND()
    return found


def openable(workspace_id: str) -> sa.Select[Profile]:
    """The profiles of a workspace that the caller can open; a `profile_id` in the query leaves only that one."""
    caller = auth.current()
    found = reach.profiles_of(caller.person).where(Profile.workspace_id == workspace_id)
    return found if caller.reach.profile is None else found.where(Profile.id == caller.reach.profile.id)


@contextmanager
def published_across(
    route: str, asked: Mapping[str, Any], profiles: Sequence[Profile], *, resume: pagination.Place | None = None
) -> Iterator[Across | None]:
    """Hold one snapshot for the length of a response over `profiles`; None when nothing is published.

    `asked` is the parsed query, defaults filled in. A known answer ends here as 304, as with `reading.published`; so
    does a cursor that resumes in a snapshot no longer kept, refused with invalid_parameter.
    """
    with across(profiles, resume=resume) as found:
        if resume and found is None:
            raise pagination.expired()
        described(found)
        responses.conditional(_tag(found, profiles, route, asked))
        yield found


@contextmanager
def across(profiles: Sequence[Profile], *, resume: pagination.Place | None = None) -> Iterator[Across | None]:
    """The same for what is no conditional read: no ETag, no `meta`."""
    with snapshots(context.settings()).reader(resume.snapshot_id if resume else None) as reader:
        yield Across(reader, _built(reader, profiles)) if reader else None


def described(found: Across | None) -> None:
    """Tell in `meta` the currency of totals, and which snapshot answers; `data_as_of` is of the oldest source."""
    arrived = [one.data_as_of for one in found.profiles if one.data_as_of] if found else []
    context.meta(
        currency=auth.current().workspace.reporting_currency,
        snapshot_id=found.reader.snapshot_id if found else None,
        data_as_of=timestamp(min(arrived)) if arrived else None,
    )


def _built(reader: SnapshotReader, profiles: Sequence[Profile]) -> list[Built]:
    found = {row["profile_id"]: row for row in reader.dicts(_BUILT, {"ids": [one.id for one in profiles]})}
    return [_of(found[one.id], one.name) for one in profiles if one.id in found]


def _of(row: dict[str, Any], name: str) -> Built:
    # DuckDB's TIMESTAMP carries no zone; ours are UTC throughout
    as_of = row.pop("data_as_of")
    return Built(**row, name=name, data_as_of=as_of and as_of.replace(tzinfo=UTC))


def _tag(found: Across | None, profiles: Sequence[Profile], route: str, asked: Mapping[str, Any]) -> str:
    told = [[one.id, one.name] for one in profiles]
    # figures follow the settings they were built under
    settings = [one.settings_version for one in found.profiles] if found else []
    workspace = auth.current().workspace
    period = pagination.period(asked)
    content = [route, workspace.id, workspace.reporting_currency, told, settings, period, dict(asked)]
    return f"{found.reader.snapshot_id if found else 'none'}.{digest(content)}"
