"""A connection as answers tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.models import Connection, ConnectionSync

_AS_THEY_ARE = (
    *("display_name", "status", "status_reason", "scopes_granted", "login_kind", "currency", "timezone"),
    "created_at",
)
_OF_SYNC = ("status", "started_at", "finished_at", "delivery_through", "error")


def told(session: Session, rows: Sequence[Connection]) -> list[dict[str, Any]]:
    """The connections with the newest sync of each, and without what opens them."""
    newest = _newest(session, [row.id for row in rows])
    return [_told(row, newest.get(row.id)) for row in rows]


def _told(row: Connection, sync: ConnectionSync | None) -> dict[str, Any]:
    return {
        "connection_id": row.id,
        "provider": row.provider_word,
        "kind": row.kind_word,
        "external_account_id": row.external_account_id or None,
        **{name: getattr(row, name) for name in _AS_THEY_ARE},
        "last_sync": {name: getattr(sync, name) for name in _OF_SYNC} if sync else None,
    }


def _newest(session: Session, ids: Sequence[str]) -> dict[str, ConnectionSync]:
    # ids are made in the order of time; of each the last is read off an index, and not all that it had in a month
    last = sa.select(sa.func.max(ConnectionSync.id)).where(ConnectionSync.connection_id == Connection.id)
    newest = sa.select(last.correlate(Connection).scalar_subquery()).where(Connection.id.in_(ids))
    chosen = sa.select(ConnectionSync).where(ConnectionSync.id.in_(newest))
    return {row.connection_id: row for row in session.scalars(chosen)}
