"""Doing a write once: an Idempotency-Key claims its request, and its answer is replayed for 24 hours.

The effect and the stored answer are committed together, so a crash leaves both or neither. A claim older than a minute,
or than its request may take, counts as abandoned; should its owner still finish, its effect is rolled back.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api import db, errors
from api.db import now
from api.forgetting import PIECE
from api.models import IdempotencyRecord
from api.postponed import SLACK
from touchledger.settings import Settings

KEPT = timedelta(hours=24)
ABANDONED = timedelta(seconds=60)
LONGEST = 255


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run one request; `started_at` tells it from a later claim of the same key."""

    account: str
    key: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer: its status and its JSON text."""

    status: int
    body: str


def read_key(header: str | None) -> str | None:
    """The key of a request, or None; 400 invalid_request unless 1 to 255 printable ASCII characters."""
    if header is None:
        return None
    if not 1 <= len(header) <= LONGEST or not (header.isascii() and header.isprintable()):
        raise errors.INVALID_REQUEST(
            f"An Idempotency-Key has 1 to {LONGEST} printable ASCII characters.", reason="idempotency_key_malformed"
        )
    return header


def fingerprint(method: str, path: str, query: str, body: bytes) -> str:
    """Hash of what makes two requests the same; `query` and `body` in canonical form."""
    parts = [method.encode(), path.encode(), query.encode(), body]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()


def claim(
    session: Session,
    *,
    account: str,
    key: str,
    print_: str,
    at: datetime | None = None,
    abandoned: timedelta = ABANDONED,
) -> Claim | Answer:
    """Claim a key within the caller's short transaction, or get the answer to replay.

    409 idempotency_key_conflict when the key belongs to another request, idempotency_key_in_flight while the first
    one runs, which it does for at most `abandoned`.
    """
    at = at or now()
    _forget_if_old(session, account, key, at)
    if _insert(session, account, key, print_, at):
        return Claim(account, key, at)
    record = session.get(IdempotencyRecord, (account, key), with_for_update=True, populate_existing=True)
    if record is None:
        raise errors.IDEMPOTENCY_KEY_IN_FLIGHT()
    if record.fingerprint != print_:
        raise errors.IDEMPOTENCY_KEY_CONFLICT()
    if record.finished_at is not None and record.status is not None:
        return Answer(record.status, record.body or "")
    # one of a clock that was ahead would be in flight until that time comes again
    if -SLACK < at - record.started_at < abandoned:
        raise errors.IDEMPOTENCY_KEY_IN_FLIGHT()
    record.started_at = at
    return Claim(account, key, at)


def finish(session: Session, claimed: Claim, answer: Answer) -> None:
    """Store the answer within the transaction that holds the effect; 409 when the claim was taken over meanwhile."""
    stored = session.execute(
        sa.update(IdempotencyRecord)
        .where(*_owned(claimed))
        .values(finished_at=now(), status=answer.status, body=answer.body)
    )
    if stored.rowcount != 1:  # type: ignore[attr-defined]
        raise errors.IDEMPOTENCY_KEY_IN_FLIGHT()


def release(session: Session, claimed: Claim) -> None:
    """Give the key back, so that a retry runs anew."""
    session.execute(sa.delete(IdempotencyRecord).where(*_owned(claimed)))


def forget_old(settings: Settings) -> None:
    """Drop whatever is too old to be replayed, and claims whose process died, `PIECE` rows in each transaction."""
    named = sa.tuple_(IdempotencyRecord.principal, IdempotencyRecord.key)
    rows = sa.select(IdempotencyRecord.principal, IdempotencyRecord.key, _is_old(now()).label("is_old"))
    rows, after = rows.order_by(IdempotencyRecord.principal, IdempotencyRecord.key).limit(PIECE), ("", "")
    while True:
        # not in one with the deletion: a look alone keeps nobody from writing
        with db.transaction(settings.operational_url, durable=False) as session:
            piece = session.execute(rows.where(named > after)).all()
        if not piece:
            return
        if old := [(row.principal, row.key) for row in piece if row.is_old]:
            with db.transaction(settings.operational_url) as session:
                # one that came to its end since, or was claimed anew, is not old any more
                gone = sa.delete(IdempotencyRecord).where(named.in_(old), _is_old(now()))
                session.execute(gone.execution_options(synchronize_session=False))
        after = (piece[-1].principal, piece[-1].key)


def _owned(claimed: Claim) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        IdempotencyRecord.principal == claimed.account,
        IdempotencyRecord.key == claimed.key,
        IdempotencyRecord.started_at == claimed.started_at,
        IdempotencyRecord.finished_at.is_(None),
    )


def _insert(session: Session, account: str, key: str, print_: str, at: datetime) -> bool:
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    row = insert(IdempotencyRecord).values(principal=account, key=key, fingerprint=print_, started_at=at)
    found = session.execute(row.on_conflict_do_nothing().returning(IdempotencyRecord.key))
    return found.first() is not None


def _forget_if_old(session: Session, account: str, key: str, at: datetime) -> None:
    # those of other keys are left to the worker: a caller may have half a million of them
    mine = (IdempotencyRecord.principal == account, IdempotencyRecord.key == key)
    old = sa.delete(IdempotencyRecord).where(*mine, _is_old(at))
    session.execute(old.execution_options(synchronize_session=False))


def _is_old(at: datetime) -> sa.ColumnElement[bool]:
    return sa.func.coalesce(IdempotencyRecord.finished_at, IdempotencyRecord.started_at) < at - KEPT
