"""Templates as the platform last showed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import now
from api.models import ChatTemplate, Connection
from api.webhooks.emitting import emit_for_profile

GONE = "DELETED"
SEEN = ("category", "status", "quality_score", "components")
TOLD = (*SEEN, "name", "language", "status_changed_at", "last_synced_at")
Key = tuple[str, str]


def keep_created(
    session: Session, connection: Connection, wanted: Mapping[str, Any], made: Mapping[str, Any]
) -> None:  # fmt: skip
    """Add a template that was just handed in; one of this name and language that is gone upstream is replaced."""
    seen = {**wanted, **made, "quality_score": "UNKNOWN"}
    _put(session, connection, _known(session, connection.id), seen)


def renew(session: Session, connection: Connection, found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Make the cache what was found; {upserted, deleted, statusChanges}, each a number of templates."""
    known = _known(session, connection.id)
    before = {key: row.status for key, row in known.items()}
    rows = list(found)
    for row in rows:
        _put(session, connection, known, row)
    here = {(row["name"], row["language"]) for row in rows}
    gone = [key for key, status in before.items() if key not in here and status != GONE]
    for key in gone:
        known[key].status, known[key].status_changed_at, known[key].last_synced_at = GONE, now(), now()
    session.flush()
    changed = [key for key in before if known[key].status != before[key]]
    for key in changed:
        _tell(session, connection, known[key], before[key])
    return {"upserted": len(here), "deleted": len(gone), "statusChanges": len(changed)}


def listed(
    session: Session, connection_id: str, *, name: str | None = None, language: str | None = None
) -> list[dict[str, Any]]:
    """Rows by name and language."""
    chosen = sa.select(ChatTemplate).where(ChatTemplate.connection_id == connection_id)
    if name is not None:
        chosen = chosen.where(ChatTemplate.name == name)
    if language is not None:
        chosen = chosen.where(ChatTemplate.language == language)
    rows = session.scalars(chosen.order_by(ChatTemplate.name, ChatTemplate.language))
    return [{"id": row.platform_id, **{field: getattr(row, field) for field in TOLD}} for row in rows]


def _tell(session: Session, connection: Connection, row: ChatTemplate, previous: str) -> None:
    told = {"name": row.name, "language": row.language, "status": row.status, "previous_status": previous}
    data = {"connection_id": connection.id, **told, "quality_score": row.quality_score}
    emit_for_profile(session, "template.updated", data, connection.profile_id)


def _known(session: Session, connection_id: str) -> dict[Key, ChatTemplate]:
    # a template that two find at once is added by the first
    session.get_one(Connection, connection_id, with_for_update={"key_share": True})
    rows = session.scalars(sa.select(ChatTemplate).where(ChatTemplate.connection_id == connection_id))
    return {(row.name, row.language): row for row in rows}


def _put(
    session: Session, connection: Connection, known: dict[Key, ChatTemplate], seen: Mapping[str, Any]
) -> None:  # fmt: skip
    key, at = (seen["name"], seen["language"]), now()
    row = known.get(key)
    if row is None:
        row = ChatTemplate(connection_id=connection.id, profile_id=connection.profile_id, name=key[0], language=key[1])
        known[key] = row
        session.add(row)
    if row.status != seen["status"]:
        row.status_changed_at = at
    row.platform_id, row.last_synced_at = seen["id"], at
    for field in SEEN:
        setattr(row, field, seen.get(field))
