"""Reads what the credentials of one workspace were used for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
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
    used = _days(session, reached, window, only)
    at = now()
    found = [
        _entry(Kind.API_KEY, row.ApiKey, row.ApiKey.profile_id, used)
        for row in session.execute(keys.of(reached).where(*_is_one(ApiKey.id, only)))
        if row.ApiKey.id in used or keys.status_of(row.ApiKey, at) in {"active", "expiring"}
    ]
    found += [_entry(Kind.USER_TOKEN, token, None, used) for token in _tokens(session, reached.workspace.id, used)]
    return sorted(found, key=lambda entry: (-entry["units"], entry["key_id"]))


def _days(session: Session, reached: Reach, window: DateRange, only: Sequence[str]) -> Days:
    """The days of each credential that was used for the reached places, in order."""
    sums = [sa.func.sum(getattr(CredentialUse, name)).label(name) for name in COUNTS]
    chosen = (
        sa.select(CredentialUse.credential_id, CredentialUse.day, *sums)
        .where(_is_place(reached), CredentialUse.day.between(window.date_from, window.date_to))
        .where(*_is_one(CredentialUse.credential_id, only))
        .group_by(CredentialUse.credential_id, CredentialUse.day)
        .order_by(CredentialUse.day)
    )
    days: Days = defaultdict(list)
    for row in session.execute(chosen):
        days[row.credential_id].append(row)
    return dict(days)


def _is_one(column: InstrumentedAttribute[str], only: Sequence[str]) -> tuple[sa.ColumnElement[bool], ...]:
    return (column.in_(only),) if only else ()


def _is_place(reached: Reach) -> sa.ColumnElement[bool]:
    if reached.profile is not None:
        return CredentialUse.place_id == reached.profile.id
    of_workspace = reached.workspace.id if reached.workspace else ""
    profiles = sa.select(Profile.id).where(Profile.workspace_id == of_workspace)
    return sa.or_(CredentialUse.place_id == of_workspace, CredentialUse.place_id.in_(profiles))


def _tokens(session: Session, workspace_id: str, used: Days) -> Iterable[UserToken]:
    """Those of members: a stranger's token may have named the workspace, too often to be looked at further."""
    chosen = (
        sa.select(UserToken)
        .join(Membership, Membership.user_id == UserToken.user_id)
        .where(Membership.workspace_id == workspace_id, UserToken.id.in_(used))
    )
    return session.scalars(chosen)


def _entry(kind: Kind, credential: ApiKey | UserToken, profile_id: str | None, used: Days) -> dict[str, Any]:
    days = used.get(credential.id, [])
    return {
        "key_id": credential.id,
        "kind": kind.value,
        "name": credential.name,
        "prefix": credential.prefix,
        "profile_id": profile_id,
        **{name: sum(int(getattr(day, name)) for day in days) for name in COUNTS},
        "last_used_at": credential.last_used_at,
        "days": [{"date": day.day, "requests": int(day.requests), "units": int(day.units)} for day in days],
    }
