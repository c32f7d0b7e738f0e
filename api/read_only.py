"""A Postgres that takes no writes for now: a standby, or one whose keeper found its disk full."""

from __future__ import annotations

import sqlalchemy as sa

# SQLSTATE of read_only_sql_transaction; SQLite calls the same an OperationalError
REFUSED = "25006"


def is_refusal(error: sa.exc.DBAPIError) -> bool:
    """Whether the statement failed only because nothing can be written."""
    return getattr(error.orig, "sqlstate", None) == REFUSED


def found(connection: sa.Connection) -> bool:
    """Whether the database takes no writes; one of SQLite would not have let the transaction begin."""
    if connection.dialect.name != "postgresql":
        return False
    return str(connection.scalar(sa.text("show transaction_read_only"))) == "on"
