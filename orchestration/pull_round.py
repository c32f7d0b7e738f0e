"""One round of pulls: a few at once of each provider, workspaces in turn, each noted as soon as it is over."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from threading import Condition, Event
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
from orchestration.partitions import HISTORY_DAYS, REVISED_DAYS, REVISED_LONGER, DayRange, Known
from orchestration.pulls import PULLS, Pull
from orchestration.silence import DOWN, FEW, note_down, was_silent
from touchledger.settings import Settings

# of one provider: one that is slow takes no turn of another's
AT_ONCE = 4
# why a connection is not asked by a run in which half of the time for pulls is over
LEFT = "left_to_the_next_run"
# a provider, and whether it is the sandbox that speaks for it: the one may be down while the other answers
Provider = tuple[str, bool]
UNREADABLE = "sealed_by_an_unknown_key"
# every so many seconds a round looks whether an account that it pulls was disconnected
LOOK = 10.0
log = structlog.get_logger(__name__)


def today(settings: Settings, connection: Connection) -> date:
    """The day it is at the provider: in the zone of an ad account, else in UTC. The sandbox has a clock of its own."""
    if connection.is_sandbox:
        return settings.demo_today
    is_known = connection.kind == "ad_platform" and connection.timezone in time_zones()
    return datetime.now(ZoneInfo(str(connection.timezone)) if is_known else UTC).date()


@dataclass
class Round:
    """The pulls of one kind in one run.

    `waiting` are the connections whose turn has yet to come, with the workspace of each; `begun` those that are under
    way, with the sync that each is, by its id; `under_way` counts them by provider and workspace. `silent` holds the
    workspaces of those of a provider that got no answer since it last gave one, `was_down` the providers that were down
    in the round before.
    """

    settings: Settings
    lake: Lake
    days: DayRange
    longest: float
    waiting: list[tuple[Connection, str]]
    under_way: Counter[tuple[Provider, str]] = field(default_factory=Counter)
    silent: defaultdict[Provider, list[str]] = field(default_factory=lambda: defaultdict(list))
    was_down: set[Provider] = field(default_factory=set)
    turn: Condition = field(default_factory=Condition)
    begun: dict[str, tuple[Pull, ConnectionSync]] = field(default_factory=dict)
    interrupted: Event = field(default_factory=Event)
    started: float = field(default_factory=time.monotonic)

    def pull(self) -> list[Pull]:
        """Pull them, and give what became of each, but for those that were disconnected meanwhile."""
        providers = [_provider(one) for one, _ in self.waiting]
        self.was_down = {_provider(one) for one, _ in self.waiting if one.status_reason == DOWN}
        # providers are waited for, not computed: their waits overlap
        pools = {one: ThreadPoolExecutor(AT_ONCE) for one in providers}
        attempts = [pools[one].submit(self._next, one) for one in providers]
        try:
            self._wait(attempts)
        except BaseException:
            # told to stop: the requests under way end by themselves
            self.interrupted.set()
            for pool in pools.values():
                pool.shutdown(wait=False, cancel_futures=True)
            begun = list(self.begun.values())
            for pull, _ in begun:
                pull.stop()
            _abandon(self.settings, [sync for _, sync in begun])
            raise
        finally:
            for pool in pools.values():
                pool.shutdown()
        # one that broke on a fault of our own fails the run, once it is noted how the others went
        ended = [attempt.result() for attempt in attempts]
        pulls = [one for one in ended if one is not None]
        return sorted(pulls, key=lambda one: (one.connection.created_at, one.connection.id))

    def _wait(self, attempts: Sequence[Future[Pull | None]]) -> None:
        """Wait for them, and end what takes too long; whose first history would be lost has twice the time."""
        for spares in (True, False):
            until, late = time.monotonic() + self.longest, set(attempts)
            while late and (left := until - time.monotonic()) > 0:
                _, late = wait(late, timeout=min(left, LOOK))
                self._stop_disconnected()
            if not late:
                return
            for pull, _ in list(self.begun.values()):
                if not (spares and _comes_whole(pull)):
                    pull.stop()
        wait(attempts)

    def _stop_disconnected(self) -> None:
        begun = {pull.connection.id: pull for pull, _ in list(self.begun.values())}
        over = sa.select(Connection.id).where(Connection.id.in_(begun), Connection.status.not_in(ASKED))
        # a database that is away for a moment ends no pull: the next look tells
        with suppress(sa.exc.OperationalError), transaction(self.settings.operational_url, durable=False) as session:
            for connection_id in session.scalars(over) if begun else ():
                begun[connection_id].stop()

    def _next(self, provider: Provider) -> Pull | None:
        """The next pull at a provider: of the workspace with the fewest under way there, so none takes all turns.

        Once `FEW` in a row got no answer one is asked alone, if it can be of another workspace; when that gets none
        either, the rest is left. Where it was down before, those few are enough.
        """
        with self.turn:
            while self.silent[provider] and 0 < self._under_way(provider) >= FEW - len(self.silent[provider]):
                self.turn.wait()
            is_down = len(self.silent[provider]) > FEW - (provider in self.was_down)
            connection, workspace_id = self._chosen(provider)
            self.under_way[provider, workspace_id] += 1
        pull = None
        try:
            if is_down:
                note_down(self.settings, connection)
                return self.left(connection, "others there got no answer", DOWN)
            pull = self._one(connection)
            return pull
        finally:
            with self.turn:
                self.under_way[provider, workspace_id] -= 1
                silent = was_silent(pull) if pull else None
                if silent:
                    self.silent[provider].append(workspace_id)
                elif silent is not None:
                    self.silent[provider].clear()
                    self.was_down.discard(provider)
                self.turn.notify_all()

    def _under_way(self, provider: Provider) -> int:
        return sum(count for (one, _), count in self.under_way.items() if one == provider)

    def _chosen(self, provider: Provider) -> tuple[Connection, str]:
        theirs = [one for one in self.waiting if _provider(one[0]) == provider]
        silent = self.silent[provider]
        chosen = min(theirs, key=lambda one: (one[1] in silent, self.under_way[provider, one[1]]))
        self.waiting.remove(chosen)
        return chosen

    def left(self, connection: Connection, told: str, reason: str) -> Pull:
        """A pull that asks nothing, since it is left to a later run."""
        left = Pull(self.settings, connection, self.lake, today(self.settings, connection), self.days)
        left.failure = ConnectorError(connection.provider, told, reason=reason)
        return left

    def _one(self, connection: Connection) -> Pull | None:
        if time.monotonic() - self.started > self.longest / 2:
            return self.left(connection, "its turn did not come in this run", LEFT)
        # told as running, it is known to be by a share of a lock
        with among_others(self.settings.home / "locks" / f"pull-{connection.id}.lock") as is_alone:
            begun = self._begin(connection.id, is_alone=is_alone)
            if begun is None:
                return None
            pull, sync = self.begun[begun[1].id] = begun
            try:
                if not self.interrupted.is_set():
                    _attempt(pull)
            except BaseException:
                _abandon(self.settings, [sync])
                raise
            finally:
                del self.begun[sync.id]
            if self.interrupted.is_set():
                # it may have begun after those under way were abandoned
                _abandon(self.settings, [sync])
                return pull
            return pull if _note(self.settings, pull, sync) else None

    def _begin(self, connection_id: str, *, is_alone: bool) -> tuple[Pull, ConnectionSync] | None:
        """A pull, and the sync that it is: the one that waits, if any does. What a run that died left is failed.

        Not while another run pulls the same connection: its sync is running as it says. None for a connection that was
        ended meanwhile.
        """
        own = sa.select(ConnectionSync).where(ConnectionSync.connection_id == connection_id)
        with transaction(self.settings.operational_url) as session:
            # whoever asks for days holds it too: they come before this begins, or are for another sync after it
            connection = session.get_one(Connection, connection_id, with_for_update={"key_share": True})
            if connection.status not in ASKED:
                return None
            for left in session.scalars(own.where(ConnectionSync.status == "running")) if is_alone else ():
                left.status, left.error, left.finished_at = "failed", "abandoned", now()
            sync = session.scalars(own.where(ConnectionSync.status == "queued").order_by(ConnectionSync.id)).first()
            if sync is None:
                sync = ConnectionSync(connection_id=connection.id, profile_id=connection.profile_id, requested_at=now())
                session.add(sync)
            sync.status, sync.started_at = "running", now()
        days = _days(_known(self.settings, connection), self.days, sync)
        landed, day = _through(self.settings, connection), today(self.settings, connection)
        return Pull(self.settings, connection, self.lake, day, days, landed), sync


def _provider(connection: Connection) -> Provider:
    return connection.provider, connection.is_sandbox


def _comes_whole(pull: Pull) -> bool:
    """Whether nothing of it stays where it ends: the history of a store or a processor lands when all of it came."""
    return pull.through is None and pull.connection.kind != "ad_platform"


def _abandon(settings: Settings, syncs: Iterable[ConnectionSync]) -> None:
    """End syncs that run no more: while one is told as running, nobody's wish for another begins anything."""
    left = sa.update(ConnectionSync).where(ConnectionSync.status == "running")
    with transaction(settings.operational_url) as session:
        session.execute(
            left.where(ConnectionSync.id.in_([one.id for one in syncs])).values(
                status="failed", error="abandoned", finished_at=now()
            )
        )


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


def _note(settings: Settings, pull: Pull, sync: ConnectionSync) -> bool:
    """Note how a pull ended; False for one that failed while its account is asked no more."""
    with transaction(settings.operational_url) as session:
        # as it is now, which nobody ends or connects anew meanwhile; before its sync, as whoever asks for one does
        connection = session.get_one(Connection, pull.connection.id, with_for_update={"key_share": True})
        ended = session.get(ConnectionSync, sync.id)
        reason = pull.failure.reason if pull.failure else None
        is_over = bool(reason) and connection.status not in ASKED
        # the profile may have been purged while the provider was asked
        if ended is not None:
            ended.status, ended.finished_at = "failed" if reason else "done", now()
            ended.error = (connection.status_reason or connection.status) if is_over else reason
            ended.delivery_through = pull.complete_through
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
    return not is_over
