"""The events of POST /events: each key once for ever, and what was taken back stays taken back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import errors, personal_names
from api.db import new_id, now
from api.models import Event, ExportRow, IngestedRecord, Run
from api.next_snapshot import expected_at
from api.v1.events.ingest import accept, withdraw
from api.v1.events.records import Sent
from api.warehouse_ids import uuid_v8

DATASET = "conversions"


def event_id(profile_id: str, key: str) -> str:
    """The event's id: that of its key, so that the warehouse can tell it too."""
    return uuid_v8(profile_id, "event", key)


def keep(session: Session, profile_id: str, key: str | None, sent: Sent) -> tuple[Event, bool]:
    """Keep an event under its key, and tell whether it is new.

    409 idempotency_key_conflict when the key has other content. An event without a key of its own gets one nobody else
    has. A test event is kept and never lands.
    """
    own = key if key is not None else f"event:{new_id()}"
    event, is_new = _claim(session, profile_id, own, sent)
    if is_new and not sent.is_test:
        record = {**sent.record, "conversion_key": own}
        if accept(session, profile_id=profile_id, dataset=DATASET, records=[record]).conflicts:
            raise errors.IDEMPOTENCY_KEY_CONFLICT("A record of this key came with other content before.")
        if names := _names(record):
            accept(session, profile_id=profile_id, dataset=personal_names.DATASET, records=names)
    if not is_new and event.fingerprint != sent.fingerprint:
        raise errors.IDEMPOTENCY_KEY_CONFLICT("An event with this idempotency_key came with other content before.")
    return event, is_new


def retract(session: Session, profile_id: str, key: str) -> tuple[Event, bool]:
    """Take an event back: the event, and whether it had been before.

    404 event_not_found; 409 event_linked_to_conversation for the event that is a conversation's lead,
    event_already_exported for one with a row in the ledger of exports.
    """
    sought = sa.select(Event).where(Event.id == event_id(profile_id, key), Event.profile_id == profile_id)
    event = session.scalars(sought.with_for_update()).one_or_none()
    if event is None:
        raise errors.EVENT_NOT_FOUND()
    if event.retracted_at is not None:
        return event, True
    if event.conversation is not None and event.id == _lead(session, event):
        raise errors.EVENT_LINKED_TO_CONVERSATION()
    if session.scalar(sa.select(sa.exists().where(ExportRow.event_id == event.id))):
        raise errors.EVENT_ALREADY_EXPORTED()
    event.retracted_at = now()
    if not event.is_test:
        keys = {"conversion_key": key}
        withdraw(session, profile_id=profile_id, dataset=DATASET, keys=keys, at=event.retracted_at)
        _withdraw_names(session, event, key)
    return event, False


def visibility(session: Session, event: Event, key: str | None) -> tuple[str, datetime | None]:
    """Where reads show the event of `key`, and when the next snapshot is due; None before the first one."""
    if event.is_test or event.retracted_at is not None:
        return "never", None
    published = sa.select(Run.published_at).where(Run.published_at.is_not(None)).order_by(Run.id.desc()).limit(1)
    last = session.scalar(published)
    landed = _landed_at(session, event, key)
    if last is not None and landed is not None and landed < last:
        return "published", None
    return "next_snapshot", expected_at(session) if last is not None else None


def _landed_at(session: Session, event: Event, key: str | None) -> datetime | None:
    """When the event's record was taken up by a build, which its batch's UUIDv7 tells; one build writes at a time."""
    batch = session.scalar(
        sa.select(IngestedRecord.landed_batch).where(
            IngestedRecord.profile_id == event.profile_id,
            IngestedRecord.dataset == DATASET,
            IngestedRecord.record_key == key,
        )
    )
    return datetime.fromtimestamp((uuid.UUID(batch).int >> 80) / 1000, UTC) if batch else None


def _names(record: Mapping[str, Any]) -> list[personal_names.Record]:
    names = {name: record.get(f"x_{name}") for name in personal_names.NAMES}
    key, at = record["conversion_key"], record["occurred_at"]
    return personal_names.personal_names(key=key, at=at, origin="server", who=record, names=names)


def _withdraw_names(session: Session, event: Event, key: str) -> None:
    dataset = personal_names.DATASET
    kept = (IngestedRecord.dataset == dataset, IngestedRecord.record_key == key)
    if session.scalar(sa.select(sa.exists().where(IngestedRecord.profile_id == event.profile_id, *kept))):
        at = event.retracted_at or now()
        withdraw(session, profile_id=event.profile_id, dataset=dataset, keys={"name_key": key}, at=at)


def _claim(session: Session, profile_id: str, key: str, sent: Sent) -> tuple[Event, bool]:
    conversation = sent.record.get("conversation_id")
    row = {
        "id": event_id(profile_id, key),
        "profile_id": profile_id,
        "fingerprint": sent.fingerprint,
        "conversion_type": sent.conversion_type,
        "is_test": sent.is_test,
        "conversation": conversation and uuid_v8(profile_id, "conversation", conversation),
        "received_at": now(),
    }
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    # of two requests with one key at once, the second waits here for the first
    made = session.execute(insert(Event).values(row).on_conflict_do_nothing(index_elements=["id"]).returning(Event.id))
    is_new = made.first() is not None
    return session.scalars(sa.select(Event).where(Event.id == row["id"])).one(), is_new


def _lead(session: Session, event: Event) -> str | None:
    """The id of the first event of the same conversation that was not taken back: the one it recorded as its lead."""
    same = sa.and_(Event.profile_id == event.profile_id, Event.conversation == event.conversation)
    first = sa.select(Event.id).where(same, Event.retracted_at.is_(None)).order_by(Event.serial).limit(1)
    return session.scalar(first)
