"""Reads what the credentials of one workspace were used for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from api.auth import Kind
from api.db import now
from api.models import ApiKey, CredentialUse, Membership, Profile, UserToken
from api.reach import Reach
from api.usage import COUNTS
from api.v1.credentials import keys
from api.windows import DateRange

Days = dict[str, list[Any]]


def report(session: Session, reached: Reach, window: DateRange, *, only: Sequence[str]) -> list[dict[str, Any]]:
    """One entry per credential, or per one of `only`, the most units first; of the one profile where one was named."""
    if reached.workspace is None:
        raise LookupError("usage is told of a workspace")
    uses = _uses(reached, window, only)
    used = _days(session, uses)
    found = [_entry(key, used) for key in session.execute(_keys(reached, uses, only))]
    found += [_entry(token, used) for token in session.execute(_tokens(reached.workspace.id, uses))]
    return sorted(found, key=lambda entry: (-entry["units"], entry["key_id"]))


def _uses(reached: Reach, window: DateRange, only: Sequence[str]) -> tuple[sa.ColumnElement[bool], ...]:
    """What tells the uses that are asked about."""
    days = CredentialUse.day.between(window.date_from, window.date_to)
    return _is_place(reached), days, *_is_one(CredentialUse.credential_id, only)


def _days(session: Session, uses: Sequence[sa.ColumnElement[bool]]) -> Days:
    """The days of each credential that was used for the reached places, in order."""
    # of whole numbers Postgres makes a sum of decimals
    sums = [sa.cast(sa.func.sum(getattr(CredentialUse, name)), sa.BigInteger).label(name) for name in COUNTS]
    by = CredentialUse.credential_id, CredentialUse.day
    days: Days = defaultdict(list)
    for row in session.execute(sa.select(*by, *sums).where(*uses).group_by(*by).order_by(CredentialUse.day)):
        days[row.credential_id].append(row)
    return dict(days)


def _keys(reached: Reach, uses: Sequence[sa.ColumnElement[bool]], only: Sequence[str]) -> sa.Select[Any]:
    """The keys that work, and those that do no more where they were used."""
    at = now()
    works = [sa.and_(*keys.in_status(status, at)) for status in ("active", "expiring")]
    # columns alone: to make an object of each of thousands of keys takes longer than all else
    chosen = keys.of(reached).with_only_columns(*_told(Kind.API_KEY, ApiKey), ApiKey.profile_id)
    return chosen.where(sa.or_(*works, ApiKey.id.in_(_used(uses))), *_is_one(ApiKey.id, only))


def _tokens(workspace_id: str, uses: Sequence[sa.ColumnElement[bool]]) -> sa.Select[Any]:
    """Those of members: a stranger's token may have named the workspace, too often to be looked at further."""
    return (
        sa.select(*_told(Kind.USER_TOKEN, UserToken), sa.null().label("profile_id"))
        .join(Membership, Membership.user_id == UserToken.user_id)
        .where(Membership.workspace_id == workspace_id, UserToken.id.in_(_used(uses)))
    )


def _told(kind: Kind, of: type[ApiKey | UserToken]) -> tuple[sa.ColumnElement[Any], ...]:
    named = (of.id.label("key_id"), sa.literal(kind.value).label("kind"))
    return *named, of.name, of.prefix, of.last_used_at  # type: ignore[return-value]


def _used(uses: Sequence[sa.ColumnElement[bool]]) -> sa.Select[str]:
    # asked for within the database: a list of ids has an end, and 33,000 of them took Postgres ten seconds
    return sa.select(CredentialUse.credential_id).where(*uses)


def _is_one(column: InstrumentedAttribute[str], only: Sequence[str]) -> tuple[sa.ColumnElement[bool], ...]:
    return (column.in_(only),) if only else ()


def _is_place(reached: Reach) -> sa.ColumnElement[bool]:
    if reached.profile is not None:
        return CredentialUse.place_id == reached.profile.id
    of_workspace = reached.workspace.id if reached.workspace else ""
    profiles = sa.select(Profile.id).where(Profile.workspace_id == of_workspace)
    return sa.or_(CredentialUse.place_id == of_workspace, CredentialUse.place_id.in_(profiles))


def _entry(credential: Any, used: Days) -> dict[str, Any]:
    days = used.get(credential.key_id, [])
    return {
        **credential._mapping,
        **{name: sum(getattr(day, name) for day in days) for name in COUNTS},
        "days": [{"date": day.day, "requests": day.requests, "units": day.units} for day in days],
    }
