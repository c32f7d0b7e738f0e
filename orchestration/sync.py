"""From connections to the lake: each is pulled on its own, so that what one provider breaks stays its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import sqlalchemy as sa
import structlog

from api.db import now, transaction
from api.models import Connection, ConnectionSync
from api.models.connection import ASKED
from api.webhooks.telling import connection_changed
from connectors.errors import ConnectorError
from data_contracts.formats import time_zones
from orchestration.lake import Lake
from orchestration.locks import among_others
from orchestration.partitions import HISTORY_DAYS, REVISED_DAYS, REVISED_LONGER, DayRange, Known, days_to_pull
from orchestration.pulls import PULLS, Pull
from touchledger.settings import Settings

AT_ONCE = 4
UNREADABLE = "sealed_by_an_unknown_key"
# the hourly run alone makes nine thousand rows a year for each account
KEPT = timedelta(days=30)

log = structlog.get_logger(__name__)


def today(settings: Settings, connection: Connection) -> date:
    """The day it is at the provider: in the zone of an ad account, else in UTC. The sandbox has a clock of its own."""
    if connection.is_sandbox:
        return settings.demo_today
    is_known = connection.kind == "ad_platform" and connection.timezone in time_zones()
    return datetime.now(ZoneInfo(str(connection.timezone)) if is_known else UTC).date()


def connections(settings: Settings, kind: str) -> list[Connection]:
    """The connections of a kind that may be asked; one that waits for its owner is left alone."""
    return _of(settings, kind, *ASKED)


def awaiting_owner(settings: Settings, kind: str) -> list[Connection]:
    """The connections of a kind that are not asked until their owner connects them anew."""
    return _of(settings, kind, "reconnect_required")


def _of(settings: Settings, kind: str, *statuses: str) -> list[Connection]:
    with transaction(settings.operational_url) as session:
        query = sa.select(Connection).where(Connection.kind == kind, Connection.status.in_(statuses))
        return list(session.scalars(query.order_by(Connection.created_at, Connection.id)))


def pull_range(settings: Settings, *, revised_days: int = REVISED_DAYS) -> DayRange:
    """The days of delivery that a run started now is over; an account that lacks earlier ones is asked for them too."""
    todays = [today(settings, one) for one in connections(settings, "ad_platform")]
    return days_to_pull(todays, now=datetime.now(UTC).date(), revised_days=revised_days)


def queued_syncs(settings: Settings) -> list[str]:
    """Ids of the syncs that wait for a run."""
    waiting = sa.select(ConnectionSync.id).where(ConnectionSync.status == "queued")
    with transaction(settings.operational_url) as session:
        return list(session.scalars(waiting.order_by(ConnectionSync.id)))


def sync_kind(settings: Settings, lake: Lake, kind: str, days: DayRange | None = None) -> list[Pull]:
    """Pull every connection of a kind, each over its own days, and note on each how it went."""
    days = days or pull_range(settings)
    # told as running, each is known to be by its share of a lock
    with ExitStack() as shares:
        return _pulled(settings, lake, connections(settings, kind), days, shares)


def _pulled(
    settings: Settings, lake: Lake, found: Sequence[Connection], days: DayRange, shares: ExitStack
) -> list[Pull]:
    syncs = [_begin(settings, one, shares) for one in found]
    pulls = [
        Pull(
            settings,
            connection,
            lake,
            today(settings, connection),
            _days(_known(settings, connection), days, sync),
            _through(settings, connection),
        )
        for connection, sync in zip(found, syncs, strict=True)
    ]
    # providers are waited for, not computed: their waits overlap
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        attempts = [pool.submit(_attempt, pull) for pull in pulls]
        try:
            wait(attempts)
        except BaseException:
            # told to stop: the pool is left once the requests under way have ended
            pool.shutdown(wait=False, cancel_futures=True)
            for pull in pulls:
                pull.stop()
            _abandon(settings, syncs)
            raise
    # one that broke on a fault of our own fails the run, once it is noted how the others went
    for pull, sync, attempt in zip(pulls, syncs, attempts, strict=True):
        if attempt.exception() is None:
            _note(settings, pull, sync)
    try:
        _abandon(settings, [sync for sync, attempt in zip(syncs, attempts, strict=True) if attempt.exception()])
    finally:
        for attempt in attempts:
            attempt.result()
    return pulls


def _begin(settings: Settings, connection: Connection, shares: ExitStack) -> ConnectionSync:
    """The sync that this pull is: the one that waits, if any does. What a run that died left is failed.

    Not while another run pulls the same connection: its sync is running as it says.
    """
    own = sa.select(ConnectionSync).where(ConnectionSync.connection_id == connection.id)
    with transaction(settings.operational_url) as session:
        # whoever asks for days holds it too: they come before this begins, or are for another sync after it
        session.scalar(sa.select(Connection.id).where(Connection.id == connection.id).with_for_update(key_share=True))
        is_alone = shares.enter_context(among_others(settings.home / "locks" / f"pull-{connection.id}.lock"))
        for left in session.scalars(own.where(ConnectionSync.status == "running")) if is_alone else ():
            left.status, left.error, left.finished_at = "failed", "abandoned", now()
        old = (ConnectionSync.connection_id == connection.id, ConnectionSync.finished_at < now() - KEPT)
        session.execute(sa.delete(ConnectionSync).where(*old))
        sync = session.scalars(own.where(ConnectionSync.status == "queued").order_by(ConnectionSync.id)).first()
        if sync is None:
            sync = ConnectionSync(connection_id=connection.id, profile_id=connection.profile_id, requested_at=now())
            session.add(sync)
        sync.status, sync.started_at = "running", now()
    return sync


def _abandon(settings: Settings, syncs: Iterable[ConnectionSync]) -> None:
    """End the syncs of a run that does not: while one is told as running, nobody's wish for another begins anything."""
    with transaction(settings.operational_url) as session:
        left = sa.update(ConnectionSync).where(ConnectionSync.id.in_([one.id for one in syncs]))
        session.execute(left.values(status="failed", error="abandoned", finished_at=now()))


def _known(settings: Settings, connection: Connection) -> Known:
    history = settings.demo_days if connection.is_sandbox else HISTORY_DAYS
    revised = min(history, REVISED_LONGER.get(connection.provider, REVISED_DAYS))
    return Known(_through(settings, connection), today(settings, connection), history, revised)


def _through(settings: Settings, connection: Connection) -> date | None:
    """The last day that is landed; None also for one that has yet to come.

    A clock that was ahead noted that one: how much was landed by then nobody knows.
    """
    through = connection.synced_through
    # a first pull goes by the day in UTC, which an account farther west has yet to see
    west = timedelta(days=connection.kind == "ad_platform")
    return None if through is None or through > today(settings, connection) + west else through


def _days(known: Known, days: DayRange, sync: ConnectionSync) -> DayRange:
    """The days that are due, and up to those that somebody asked for."""
    return known.widened(known.wanted(days), sync.date_from, sync.date_to)


def _attempt(pull: Pull) -> None:
    provider = pull.connection.provider
    try:
        if not pull.connection.token:
            # asked without one, a provider says what it says of a dead one, and the owner would have to come
            raise ConnectorError(provider, "no key of the deployment opens the token", reason=UNREADABLE)
        PULLS[provider](pull)
    except ConnectorError as error:
        pull.failure = error
        if not pull.stopped.is_set():
            log.warning("connection_failed", connection=pull.connection.id, reason=error.reason, error=str(error))


def _note(settings: Settings, pull: Pull, sync: ConnectionSync) -> None:
    with transaction(settings.operational_url) as session:
        # as it is now, which nobody ends or connects anew meanwhile; before its sync, as whoever asks for one does
        connection = session.get_one(Connection, pull.connection.id, with_for_update={"key_share": True})
        ended = session.get(ConnectionSync, sync.id)
        # the profile may have been purged while the provider was asked
        if ended is not None:
            ended.status, ended.finished_at = "failed" if pull.failure else "done", now()
            ended.error, ended.delivery_through = pull.failure.reason if pull.failure else None, pull.complete_through
        # another run may have landed more of it meanwhile
        landed = (_through(settings, connection), pull.through)
        connection.synced_through = max(filter(None, landed), default=connection.synced_through)
        if pull.failure is None:
            connection.synced_at = now()
        # accounts are told as they are now, not as they were when they were connected
        connection.timezone = pull.zone.key if pull.zone else connection.timezone
        connection.currency = pull.currency or connection.currency
        # a token given meanwhile is not judged by what the old one was told
        if connection.token == pull.connection.token:
            before = connection.status
            connection.heard(pull.failure)
            connection_changed(session, connection, before, base_url=settings.base_url)
