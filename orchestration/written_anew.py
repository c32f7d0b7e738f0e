"""The operational database written anew, so that no free page or log holds what was deleted."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa

from api.db import outside_transactions

COMPACTED = (
    "ingested_records", "events", "collected_events", "imports", "erasures", "erased_identifiers", "manual_refunds",
    "payment_payers", "audience_exclusions", "idempotency_records", "store_deliveries",
)  # fmt: skip
# of the API's own transactions none takes as long
PATIENCE_MILLISECONDS = 3_000
READS_ON = (
    "reads the operational database as it was before, so its files still hold what was erased; the next build ends this"
)
# a standby that reports what it reads (`hot_standby_feedback`) does so every 10 seconds; nobody is held up meanwhile
READERS_SECONDS = 30.0
LOOK_AGAIN_SECONDS = 0.5
# it has one row, which only migrations change; whoever may still see what that was may see all that died before
CANARY = "alembic_version"


class StillReadError(RuntimeError):
    """Somebody reads the database as it was before, so its files still hold what was erased."""


class UnownedTableError(RuntimeError):
    """Somebody else owns a table, which then cannot be written anew, so its file still holds what was erased."""


def compact(url: str) -> None:
    """Write the database anew, so that no free page or log holds what was there before.

    Raises StillReadError where somebody reads on: SQLite's log cannot be carried over, or Postgres's tables are held or
    seen as they were; UnownedTableError where another user of Postgres made them.
    """
    with outside_transactions(url) as connection:
        if url.startswith("sqlite"):
            connection.cursor().execute("vacuum")
            _empty_log(connection)
        else:
            _rewrite_tables(connection.driver_connection)


def _empty_log(connection: sa.PoolProxiedConnection) -> None:
    # told as a row, and not raised: while somebody reads what was before, both files keep it
    is_busy, *_ = connection.cursor().execute("pragma wal_checkpoint(truncate)").fetchone()
    if is_busy:
        raise StillReadError(f"somebody, a backup perhaps, {READS_ON}")


def _rewrite_tables(connection: Any) -> None:
    # whoever comes to a table while this waits for it waits too, and a dump holds all of them to its end
    connection.execute(f"set lock_timeout = {PATIENCE_MILLISECONDS}")
    try:
        _wait_for_readers(connection)
        for table in COMPACTED:
            _rewritten(connection, table)
    except psycopg.errors.LockNotAvailable:
        raise StillReadError(f"somebody, a dump perhaps, {READS_ON}") from None
    finally:
        connection.execute("reset lock_timeout")


def _wait_for_readers(connection: Any) -> None:
    """Wait until no transaction may still see what has been deleted: a table that is written anew keeps that."""
    until = time.monotonic() + READERS_SECONDS
    connection.execute("update alembic_version set version_num = version_num")
    while _rewritten(connection, CANARY):
        if time.monotonic() >= until:
            raise StillReadError(f"a long transaction, a standby or a replication slot {READS_ON}")
        time.sleep(LOOK_AGAIN_SECONDS)


def _rewritten(connection: Any, table: str) -> int:
    """Write a table anew; gives how many deleted rows it keeps, since somebody may still see them."""
    with _told(connection) as details:
        connection.execute(f"vacuum (full, verbose) {table}")
    if not details:
        # it was passed over with a warning, which is no error
        raise UnownedTableError(
            f"another user of Postgres than the one of TOUCHLEDGER_DATABASE_URL owns the table {table}: it cannot be "
            "written anew, so it still holds what was erased; give it to this one, and the next build ends this"
        )
    # the number comes first, in whatever language the server speaks
    return int(re.findall(r"\d+", details[-1])[0])


@contextmanager
def _told(connection: Any) -> Iterator[list[str]]:
    """What the server tells in detail of the statements within the block."""
    details: list[str] = []

    def hear(told: psycopg.errors.Diagnostic) -> None:
        if told.message_detail:
            details.append(told.message_detail)

    connection.add_notice_handler(hear)
    try:
        yield details
    finally:
        connection.remove_notice_handler(hear)
