"""From connections to the lake: each is pulled on its own, so that what one provider breaks stays its own."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from api.db import now, transaction
from api.models import Connection, ConnectionSync, Profile
from api.models.connection import ASKED
from orchestration.lake import Lake
from orchestration.partitions import REVISED_DAYS, DayRange, days_to_pull
from orchestration.pull_round import Round, today
from orchestration.pulls import Pull
from orchestration.silence import RESTING, resting
from touchledger.settings import Settings

# the hourly run alone makes nine thousand rows a year for each account
KEPT = timedelta(days=30)


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
    """Ids of the syncs that wait for a run, of connections that one asks."""
    waiting = sa.select(ConnectionSync.id).join(Connection, Connection.id == ConnectionSync.connection_id)
    chosen = waiting.where(ConnectionSync.status == "queued", Connection.status.in_(ASKED))
    with transaction(settings.operational_url) as session:
        return list(session.scalars(chosen.order_by(ConnectionSync.id)))


def sync_kind(
    settings: Settings,
    lake: Lake,
    kind: str,
    days: DayRange | None = None,
    *,
    only_queued: bool = False,
    leaves_silent: bool = False,
    longest: float = math.inf,
) -> list[Pull]:
    """Pull the connections of a kind, each over its own days, and note on each how it went as soon as it is over.

    With `only_queued` those that somebody asked for; with `leaves_silent` not those that were silent several times in a
    row and rest. After half of `longest` (seconds) no pull begins, and after all of it none asks its provider any more,
    after twice as long the first of a store or a processor: what is left of them the next run pulls.
    """
    _forget_old(settings)
    waiting = due(settings, kind, only_queued=only_queued)
    rests = resting(settings, [one for one, _ in waiting]) if leaves_silent else set()
    asked = [one for one in waiting if one[0].id not in rests]
    this = Round(settings, lake, days or pull_range(settings), longest, asked)
    spared = [this.left(one, "silent several times in a row", RESTING) for one, _ in waiting if one.id in rests]
    return this.pull() + spared


def due(settings: Settings, kind: str, *, only_queued: bool = False) -> list[tuple[Connection, str]]:
    """The connections of a kind that may be asked, each with its workspace's id.

    First what somebody asked for, then what was pulled longest ago.
    """
    own = ConnectionSync.connection_id == Connection.id
    queued = sa.exists().where(own, ConnectionSync.status == "queued")
    # ids are made in the order of time
    newest = sa.select(sa.func.max(ConnectionSync.id)).where(own).correlate(Connection).scalar_subquery()
    chosen = (
        sa.select(Connection, Profile.workspace_id)
        .join(Profile, Profile.id == Connection.profile_id)
        .where(Connection.kind == kind, Connection.status.in_(ASKED))
        .order_by(sa.not_(queued), sa.func.coalesce(newest, ""), Connection.created_at, Connection.id)
    )
    with transaction(settings.operational_url) as session:
        return [(one, of) for one, of in session.execute(chosen.where(queued) if only_queued else chosen)]


def _forget_old(settings: Settings) -> None:
    ended = ConnectionSync.status.in_(("done", "failed"))
    old = sa.delete(ConnectionSync).where(ended, ConnectionSync.finished_at < now() - KEPT)
    with transaction(settings.operational_url) as session:
        session.execute(old, execution_options={"synchronize_session": False})
