"""How many at once: the dear requests of one credential that are under way, and what only one does, over all workers.

Each holds a place in the operational database from its admission to its answer. The place of a request whose worker
died comes free after `ABANDONED`, long after any query was given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
import structlog
from flask import g
from sqlalchemy.orm import Session

from api import context, db, errors, rate_limit
from api.db import connection_of

DEAR = 3
AT_ONCE = 4
ABANDONED = 60 * rate_limit.SECOND
# another of them may end at any moment
RETRY = {"Retry-After": "1"}

log = structlog.get_logger("api.under_way")


def take(session: Session, account: str, *, at_once: int = AT_ONCE) -> int | None:
    """A place for one more request of this account: the moment it is known by, or None while all are taken.

    The account's row stays locked until the transaction ends.
    """
    connection, name = connection_of(session), _name(account)
    before, now = rate_limit.locked(connection, name)
    after, found = rate_limit.settle(before, now, units=1, limit=at_once, window=ABANDONED)
    if found.retry_after is not None:
        return None
    rate_limit.WRITE_ONE.rows(connection, name=name, after=after)
    return after[-1][0]


def give_back(session: Session, account: str, moment: int) -> None:
    """Free the place that `take` knew by this moment, unless it was free already."""
    connection, name = connection_of(session), _name(account)
    before, _ = rate_limit.locked(connection, name)
    left = [(at, held - (at == moment)) for at, held in before]
    rate_limit.WRITE_ONE.rows(connection, name=name, after=[pair for pair in left if pair[1]])


def refusal() -> errors.ApiError:
    """What a request hears that found no place."""
    words = f"{AT_ONCE} such requests of this credential are under way; send it again when one has been answered."
    return errors.RATE_LIMIT_EXCEEDED(words, reason="concurrency", headers=RETRY)


@contextmanager
def alone(url: str, what: str) -> Iterator[None]:
    """Have nobody else do `what` while the block runs; 429 rate_limit_exceeded/concurrency for who comes meanwhile.

    Enter it while no transaction of the request is open.
    """
    with db.transaction(url, durable=False) as session:
        moment = take(session, what, at_once=1)
    if moment is None:
        words = "Another request about this is under way; try again in a moment."
        raise errors.RATE_LIMIT_EXCEEDED(words, reason="concurrency", headers=RETRY)
    try:
        yield
    finally:
        _free(url, what, moment)


def finish(_: BaseException | None) -> None:
    """At the end of each request: free its place, if it has one."""
    place = g.pop("place", None)
    if place is not None:
        _free(context.settings().operational_url, *place)


def _free(url: str, account: str, moment: int) -> None:
    try:
        with db.admission(url) as session:
            give_back(session, account, moment)
    except sa.exc.SQLAlchemyError as error:
        # the answer is made; the place comes free by itself
        log.error("place_not_freed", request_id=context.request_id(), problem=type(error).__name__)


def _name(account: str) -> str:
    return f"{account}:concurrency"
