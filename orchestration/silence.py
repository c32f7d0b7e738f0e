"""Providers and accounts that do not answer: how many of them a round asks, and which the hourly run leaves alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from itertools import takewhile

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api.db import now, transaction
from api.models import Connection, ConnectionSync
from connectors.errors import Transient
from orchestration.pulls import Pull
from touchledger.settings import Settings

# of a provider in a row, without an answer to any: one more is asked alone, and decides about the rest
FEW = 4
# why a connection is not asked: those of its provider did not answer; it did not, several times in a row
DOWN = "provider_silent"
RESTING = "silent_asked_less_often"
# what is noted of a pull that got no answer
_NOTED = ("connection", "timeout", "transient")
# by how many pulls in a row got none, this many at most; hourly runs do not begin to the minute
_PAUSES = {3: timedelta(hours=1, minutes=45), 4: timedelta(hours=3, minutes=45)}


def was_silent(pull: Pull) -> bool | None:
    """Whether the provider gave no answer, or faults alone, before any day came; None where that was not found out."""
    if pull.stopped.is_set() or not pull.requests:
        return None
    failure = pull.failure
    is_down = isinstance(failure, Transient) or (failure is not None and (failure.status or 0) >= 500)
    return is_down and not pull.delivered


def note_down(settings: Settings, connection: Connection) -> None:
    """Tell of a connection that it was not asked, but where its owner has to do something."""
    told = sa.update(Connection).where(Connection.id == connection.id, Connection.status == "active")
    with transaction(settings.operational_url) as session:
        session.execute(told.values(status_reason=DOWN))


def resting(settings: Settings, connections: Iterable[Connection]) -> set[str]:
    """Ids of those that were silent several times in a row, and are not to be asked yet; none that somebody asked for.

    One that gets on, a few days with each pull, is not silent.
    """
    with transaction(settings.operational_url) as session:
        return {one.id for one in connections if one.status_reason in _NOTED and _rests(session, one.id)}


def _rests(session: Session, connection_id: str) -> bool:
    own = sa.select(ConnectionSync).where(ConnectionSync.connection_id == connection_id)
    newest = session.scalars(own.order_by(ConnectionSync.id.desc()).limit(max(_PAUSES))).all()
    silent = takewhile(lambda one: one.error in _NOTED and one.delivery_through == newest[0].delivery_through, newest)
    pause = _PAUSES.get(len(list(silent)), timedelta())
    # a clock that was ahead may have noted a time that has yet to come
    return bool(newest) and timedelta() <= now() - (newest[0].finished_at or now()) < pause
