"""From a new snapshot to rows of the ledger: each conversion that an enabled destination asks for, once for ever."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from api import db
from api.exports import candidates, gates
from api.exports.candidates import Candidate
from api.models import Event, ExportDestination, ExportRow, Profile
from api.one_by_one import one_by_one
from api.served import Reader, profile_facts
from api.snapshot import snapshots
from api.warehouse_ids import uuid_v8
from api.webhooks.telling import exports_ended
from touchledger.settings import Settings

log = structlog.get_logger("api.exports")

# sources revise so many days; what is told of earlier ones comes too late for every platform anyway
REVISED = timedelta(days=28)
CHUNK = 500
PENDING = ("queued", "sent")


def match_all(settings: Settings) -> int:
    """Bring every destination up to the published snapshot; gives how many rows were written."""
    with snapshots(settings).reader() as reader:
        if reader is None:
            return 0
        with db.transaction(settings.operational_url, durable=False) as session:
            waiting = {one.id: one for one in session.scalars(_unmatched(reader.snapshot_id))}
    return one_by_one("match_conversions", waiting, lambda one: _match(settings, one))


def _unmatched(snapshot_id: str) -> sa.Select[ExportDestination]:
    fresh = ExportDestination.matched_snapshot_id == snapshot_id
    return (
        sa.select(ExportDestination)
        .join(Profile, Profile.id == ExportDestination.profile_id)
        .where(Profile.archived_at.is_(None), ExportDestination.deleted_at.is_(None), ExportDestination.is_enabled)
        .where(sa.or_(ExportDestination.matched_snapshot_id.is_(None), sa.not_(fresh)))
        .order_by(ExportDestination.id)
    )


def _match(settings: Settings, found: ExportDestination) -> int:
    # a reader of its own: the time that one destination takes is not taken from those behind it
    with snapshots(settings).reader() as reader:
        return _matched(settings, reader, found) if reader else 0


def _matched(settings: Settings, reader: Reader, found: ExportDestination) -> int:
    at, url = db.now(), settings.operational_url
    begin = max(found.created_at - gates.OLDEST, at - REVISED)
    facts = profile_facts(reader, found.profile_id)
    told = candidates.since(reader, facts, begin, found.conversion_types) if facts else iter(())
    with db.transaction(url, durable=False) as session:
        known = _known(session, found, begin)
        tests = list(_test_events(session, found, begin))
    new = (one for one in chain(told, tests) if one.conversion_id not in known)
    written = 0
    while chunk := list(islice(new, CHUNK)):
        with db.transaction(url) as session:
            written += _write(session, found.id, chunk, at)
    with db.transaction(url) as session:
        row = session.get_one(ExportDestination, found.id, with_for_update=True)
        # a destination that was changed meanwhile is matched anew
        if row.updated_at == found.updated_at:
            row.matched_snapshot_id = reader.snapshot_id
    if written:
        log.info("conversions_matched", destination_id=found.id, rows=written)
    return written


def _known(session: Session, found: ExportDestination, begin: datetime) -> set[str]:
    chosen = sa.select(ExportRow.conversion_id).where(
        ExportRow.destination_id == found.id, ExportRow.occurred_at >= begin
    )
    return set(session.scalars(chosen))


def _test_events(session: Session, found: ExportDestination, begin: datetime) -> Iterator[Candidate]:
    """Test events never reach a snapshot; their rows show that they were seen, and stayed here."""
    chosen = sa.select(Event).where(Event.profile_id == found.profile_id, Event.is_test, Event.received_at >= begin)
    for event in session.scalars(chosen.where(Event.conversion_type.in_(found.conversion_types))):
        yield Candidate(event.id, event.id, event.conversion_type or "", event.received_at, is_test=True)


def _write(session: Session, destination_id: str, chunk: Sequence[Candidate], at: datetime) -> int:
    found = session.get_one(ExportDestination, destination_id, with_for_update=True)
    profile = session.get_one(Profile, found.profile_id)
    if not found.is_enabled or profile.archived_at is not None:
        return 0
    judged = gates.situation(session, profile, at)
    let = marked(session, found, [one for one in chunk if judged.lets(one)], PENDING)
    rows = [_row(found, one, gates.skip_reason(judged, one), at) for one in let]
    if not rows:
        return 0
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(ExportRow).on_conflict_do_nothing(index_elements=["destination_id", "conversion_id"])
    written = set(session.scalars(statement.returning(ExportRow.id), rows))
    exports_ended(session, found, [ExportRow(**row) for row in rows if row["id"] in written])
    return len(written)


def marked(
    session: Session, found: ExportDestination, given: Sequence[Candidate], statuses: Collection[str]
) -> Iterable[Candidate]:
    """The same, marked where they were taken back, or have a row of these statuses that goes to the same place."""
    retracted, elsewhere = _retracted(session, given), _elsewhere(session, found, given, statuses)
    for one in given:
        is_duplicate = not elsewhere.isdisjoint({one.conversion_id, one.event_id, *_other_ids(found, one)})
        yield replace(one, is_retracted=one.event_id in retracted, is_duplicate=is_duplicate)


def _other_ids(found: ExportDestination, one: Candidate) -> list[str]:
    return [uuid_v8(found.profile_id, "conversion", name) for name in one.other_names]


def _retracted(session: Session, given: Sequence[Candidate]) -> set[str]:
    ids = [one.event_id for one in given if one.event_id]
    chosen = sa.select(Event.id).where(Event.id.in_(ids), Event.retracted_at.is_not(None))
    return set(session.scalars(chosen))


def _elsewhere(
    session: Session, found: ExportDestination, given: Sequence[Candidate], statuses: Collection[str]
) -> set[str]:
    """Ids of conversions, and of server events, that already go to this platform's target under another row."""
    other = aliased(ExportDestination)
    # what was sent stays where it went, though its destination was moved since; its own rows count wherever they are
    place = sa.func.coalesce(ExportRow.target, other.target)
    is_there = sa.or_(other.id == found.id, place == found.target)
    same_place = (other.profile_id == found.profile_id, other.kind == found.kind, is_there)
    taken = (
        sa.select(ExportRow.conversion_id, ExportRow.event_id)
        .join(other, other.id == ExportRow.destination_id)
        .where(*same_place, ExportRow.status.in_(statuses))
    )
    ids, events = [one.conversion_id for one in given], [one.event_id for one in given if one.event_id]
    of_others = taken.where(ExportRow.conversion_id.in_(ids), other.id != found.id)
    # one event told under two conversion ids, or one payment: it became known by another name, and a row of the old
    # one that was not sent never goes
    sent = taken.where(ExportRow.status == "sent")
    of_events = sent.where(ExportRow.event_id.in_(events), ExportRow.conversion_id.not_in(ids))
    of_names = sent.where(ExportRow.conversion_id.in_([other for one in given for other in _other_ids(found, one)]))
    named = {row.conversion_id for chosen in (of_others, of_names) for row in session.execute(chosen)}
    return named | {row.event_id for row in session.execute(of_events)}


def _row(found: ExportDestination, one: Candidate, reason: str | None, at: datetime) -> dict[str, Any]:
    return {
        "id": db.new_id(),
        "profile_id": found.profile_id,
        "destination_id": found.id,
        "conversion_id": one.conversion_id,
        "event_id": one.event_id,
        "conversion_type": one.type,
        "occurred_at": one.occurred_at,
        "status": "skipped" if reason else "queued",
        "reason": reason,
        "attempts": 0,
        "created_at": at,
        # platforms refuse what has not happened yet, and a file may tell of tomorrow
        "next_attempt_at": None if reason else max(at, one.occurred_at),
    }
