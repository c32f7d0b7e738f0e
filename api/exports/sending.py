"""Sending what is queued: judged once more, reported to the platform, and settled row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import SystemRandom
from typing import Literal

import sqlalchemy as sa
import structlog

from api import audit, connections, db
from api.erased import digest
from api.erased_records import erased_digests
from api.exports import candidates, destinations, gates, matching
from api.exports.candidates import Candidate
from api.models import Connection, ExportDestination, ExportRow, Profile
from api.models.connection import OWNERS_CALL
from api.one_by_one import never, one_by_one
from api.postponed import is_due
from api.served import ProfileFacts, Reader, profile_facts
from api.snapshot import snapshots
from api.webhooks.telling import connection_changed, exports_ended
from connectors.errors import LONGEST_WAIT, ConnectorError, Refused, Revoked, Throttled
from connectors.meta_conversions import Conversion, MetaConversions
from connectors.transport import Policy, Transport
from touchledger.settings import Settings

log = structlog.get_logger("api.exports")

BATCH = 200
# who dies while sending leaves rows that are tried again after this; the platform knows them by their id
LEASE = timedelta(minutes=10)
WAITS = (60, 5 * 60, 30 * 60, 2 * 3600, 12 * 3600)
JITTER = 0.2
# the deployment's app is at fault, which its operator mends: no event is, nor the owner of the account
APP_REFUSED = "app_refused"
FAILING_FROM = 5
GIVEN_UP_AFTER = timedelta(hours=24)
ONCE = Policy(attempts=1, connect_timeout=5, read_timeout=20, whole_timeout=30, largest_body=2**20)

_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of one row. `wait` is what the platform asked for, in seconds."""

    row_id: str
    status: Literal["sent", "failed", "skipped", "retry", "waiting"]
    reason: str | None = None
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows of one destination taken for one request, with what they are judged under."""

    destination: ExportDestination
    connection: Connection
    rows: Sequence[ExportRow]
    situation: gates.Situation


def send_due(settings: Settings, ended: Callable[[], bool] = never) -> int:
    """Send one batch of every destination that has something due; gives how many rows were settled.

    None is begun once `ended` says so.
    """
    with db.transaction(settings.operational_url, durable=False) as session:
        due = {row.id: row for row in session.execute(_due(db.now()))}
    return one_by_one("send_conversions", due, lambda row: _send(settings, row.id, row.profile_id), ended)


def give_up(settings: Settings) -> int:
    """Switch off what has been failing for a day; gives how many destinations that were."""
    failing = sa.select(ExportDestination).where(
        ExportDestination.is_enabled,
        ExportDestination.deleted_at.is_(None),
        ExportDestination.failing_since < db.now() - GIVEN_UP_AFTER,
    )
    with db.transaction(settings.operational_url) as session:
        found = list(session.scalars(failing.with_for_update()))
        for one in found:
            destinations.switch_off(session, one, "failing_24h")
            workspace_id = session.get_one(Profile, one.profile_id).workspace_id
            about = audit.target("export_destination", one.id, one.name)
            details = {"target": about, "after": {"enabled": False, "reason": one.failing_reason}}
            attempt = audit.Attempt("export_destination.given_up", details, category="exports")
            audit.record(session, audit.Actor("system", None, workspace_id, one.profile_id), attempt)
    return len(found)


def _due(at: datetime) -> sa.Select[str, str]:
    # from the destinations on: a join reads the rows of all time
    ripe = sa.exists().where(ExportRow.destination_id == ExportDestination.id, *_is_ripe(at))
    chosen = sa.select(ExportDestination.id, ExportDestination.profile_id).where(ExportDestination.is_enabled, ripe)
    return chosen.order_by(ExportDestination.id)


def _is_ripe(at: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """What leaves now: nothing waits longer than platforms may ask for, and what is untried only until it happens."""
    untried = ExportRow.attempts == 0
    due = sa.or_(untried, is_due(at, ExportRow, [timedelta(seconds=LONGEST_WAIT)] * (len(WAITS) + 1)))
    return ExportRow.status == "queued", ExportRow.occurred_at <= at, due


def _send(settings: Settings, destination_id: str, profile_id: str) -> int:
    with snapshots(settings).reader() as reader:
        facts = profile_facts(reader, profile_id) if reader else None
        # without it nobody can tell what happened, and what nobody tried is no attempt
        if reader is None or facts is None:
            return 0
        claim = _claim(settings, destination_id)
        if claim is None or not claim.rows:
            return 0
        found = candidates.named(reader, facts, [row.conversion_id for row in claim.rows])
        for forgotten in _of_erased(settings, reader, facts, profile_id, list(found)):
            del found[forgotten]
    with db.transaction(settings.operational_url, durable=False) as session:
        told = matching.marked(session, claim.destination, list(found.values()), ("sent",))
        marked = {one.conversion_id: one for one in told}
    judged = [(row, marked.get(row.conversion_id)) for row in claim.rows]
    held = [Settled(row.id, "skipped", reason) for row, one in judged if (reason := _held(claim, one))]
    going = [(row, one) for row, one in judged if one is not None and _held(claim, one) is None]
    settled = [*held, *_reported(settings, claim, going, facts.currency)]
    _settle(settings, claim, settled)
    return len(settled)


def _of_erased(
    settings: Settings, reader: Reader, facts: ProfileFacts, profile_id: str, ids: Sequence[str]
) -> set[str]:
    """Those of the conversions whose people were erased after the snapshot was built."""
    key = settings.signing_key()
    with db.transaction(settings.operational_url, durable=False) as session:
        erased = erased_digests(session, profile_id)
    known = candidates.identifiers(reader, facts, ids) if erased else ()
    return {conversion for conversion, one in known if digest(key, one) in erased}


def _claim(settings: Settings, destination_id: str) -> Claim | None:
    at = db.now()
    with db.transaction(settings.operational_url) as session:
        found = session.get_one(ExportDestination, destination_id, with_for_update=True)
        connection = session.get_one(Connection, found.connection_id)
        if not found.is_enabled or not destinations.is_usable(connection):
            return None
        oldest = (
            sa.select(ExportRow)
            .where(ExportRow.destination_id == found.id, *_is_ripe(at))
            .order_by(ExportRow.occurred_at, ExportRow.id)
            .limit(BATCH)
        )
        rows = list(session.scalars(oldest))
        for row in rows:
            row.attempts, row.next_attempt_at = row.attempts + 1, at + LEASE
        profile = session.get_one(Profile, found.profile_id)
        return Claim(found, connection, rows, gates.situation(session, profile, at))


def _held(claim: Claim, one: Candidate | None) -> str | None:
    """Why it does not go; what the snapshot no longer tells was taken back, or its person was erased."""
    if one is None:
        return "retracted"
    if reason := gates.skip_reason(claim.situation, one):
        return reason
    # the types may have been changed after the row was written
    is_asked_for = one.type in claim.destination.conversion_types and claim.situation.lets(one)
    return None if is_asked_for else "destination_disabled"


def _reported(
    settings: Settings, claim: Claim, going: Sequence[tuple[ExportRow, Candidate]], currency: str
) -> list[Settled]:
    if not going:
        return []
    conversions = [(row.id, _conversion(claim, one, currency)) for row, one in going]
    connection, destination = claim.connection, claim.destination
    settled: list[Settled] = []
    with Transport(ONCE) as transport:
        pixel, secret = destination.target, connections.app_secret(settings, connection)
        platform = MetaConversions(connection.base_url, connection.token, pixel, transport, app_secret=secret)
        try:
            _report(platform, conversions, settled)
        except ConnectorError as failure:
            _hear(settings, connection, failure)
            ended = {one.row_id for one in settled}
            return [*settled, *(_failed(row_id, failure) for row_id, _ in conversions if row_id not in ended)]
    if connection.status != "active":
        _hear(settings, connection, None)
    return settled


def _report(platform: MetaConversions, events: Sequence[tuple[str, Conversion]], settled: list[Settled]) -> None:
    """Halves a request that is refused for one of its events, until that one is alone; adds to `settled` as it goes."""
    try:
        platform.send([event for _, event in events])
    except Refused as refused:
        if refused.reason in OWNERS_CALL or refused.reason == APP_REFUSED:
            raise
        if refused.reason == "not_found" or len(events) == 1:
            settled += [Settled(row_id, "failed", refused.reason) for row_id, _ in events]
            return
        middle = len(events) // 2
        _report(platform, events[:middle], settled)
        _report(platform, events[middle:], settled)
    else:
        settled += [Settled(row_id, "sent") for row_id, _ in events]


def _failed(row_id: str, failure: ConnectorError) -> Settled:
    if isinstance(failure, Revoked):
        return Settled(row_id, "waiting", failure.reason)
    if isinstance(failure, Refused) and failure.reason != APP_REFUSED:
        return Settled(row_id, "failed", failure.reason)
    wait = failure.wait or 0.0 if isinstance(failure, Throttled) else 0.0
    return Settled(row_id, "retry", failure.reason, wait)


def _conversion(claim: Claim, one: Candidate, currency: str) -> Conversion:
    with_value = one.value is not None and claim.situation.sends_value(claim.destination, one)
    return Conversion(
        id=one.conversion_id,
        type=one.type,
        occurred_at=one.occurred_at,
        is_chat=one.is_chat,
        match=claim.situation.shown(one.match),
        value=one.value if with_value else None,
        currency=currency if with_value else None,
    )


def _hear(settings: Settings, connection: Connection, failure: ConnectorError | None) -> None:
    with db.transaction(settings.operational_url) as session:
        row = session.get_one(Connection, connection.id, with_for_update={"key_share": True})
        if row.token == connection.token:
            before = row.status
            row.heard(failure)
            connection_changed(session, row, before, base_url=settings.base_url)


def _settle(settings: Settings, claim: Claim, settled: Iterable[Settled]) -> None:
    at, outcomes = db.now(), {one.row_id: one for one in settled}
    taken = {row.id: row.attempts for row in claim.rows}
    told: Counter[str] = Counter()
    ended: list[ExportRow] = []
    with db.transaction(settings.operational_url) as session:
        destination = session.get_one(ExportDestination, claim.destination.id, with_for_update=True)
        chosen = sa.select(ExportRow).where(ExportRow.id.in_(outcomes)).with_for_update()
        for row in session.scalars(chosen.order_by(ExportRow.occurred_at, ExportRow.id)):
            # switched off meanwhile, or held too long and taken by another: only what went is news
            is_ours = row.status == "queued" and row.attempts == taken[row.id]
            if is_ours or (outcomes[row.id].status == "sent" and row.status != "sent"):
                _write(row, outcomes[row.id], claim.destination.target, at)
                told[row.status] += 1
                ended.append(row)
                _count(destination, row, at)
        exports_ended(session, destination, ended)
    log.info("conversions_exported", destination_id=claim.destination.id, **told)


def _write(row: ExportRow, outcome: Settled, target: str, at: datetime) -> None:
    status = outcome.status
    if status == "retry" and row.attempts > len(WAITS):
        status = "failed"
    row.reason, row.next_attempt_at = outcome.reason, None
    if status in ("sent", "failed", "skipped"):
        row.status, row.target = status, target if status == "sent" else None
        row.sent_at, row.failed_at = at if status == "sent" else None, at if status == "failed" else None
    elif status == "waiting":
        row.attempts, row.next_attempt_at = row.attempts - 1, at
    else:
        wait = WAITS[row.attempts - 1] * _random.uniform(1 - JITTER, 1 + JITTER)
        row.next_attempt_at = at + timedelta(seconds=max(wait, outcome.wait))


def _count(destination: ExportDestination, row: ExportRow, at: datetime) -> None:
    if row.status == "sent":
        destination.last_sent_at, destination.consecutive_failures = at, 0
        destination.failing_since = destination.failing_reason = None
    elif row.status == "failed":
        destination.consecutive_failures += 1
        destination.failing_reason = row.reason
        if destination.consecutive_failures >= FAILING_FROM and destination.failing_since is None:
            destination.failing_since = at
