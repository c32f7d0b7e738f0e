"""A database that takes no writes for now: a standby, one whose keeper found its disk full, a read-only file system."""

from __future__ import annotations

import sqlalchemy as sa

# SQLSTATE of read_only_sql_transaction; SQLite calls the same an OperationalError
REFUSED = "25006"


def is_refusal(error: sa.exc.DBAPIError) -> bool:
    """Whether the statement failed only because nothing can be written."""
    return getattr(error.orig, "sqlstate", None) == REFUSED


def found(connection: sa.Connection) -> bool:
    """Whether a database of Postgres takes no writes; one of SQLite raises OperationalError once this is committed."""
    if connection.dialect.name == "postgresql":
        return str(connection.scalar(sa.text("show transaction_read_only"))) == "on"
    # its transactions begin in memory, also where nothing can be written: so something is, which changes nothing
    version = int(connection.exec_driver_sql("pragma user_version").scalar_one())
    connection.exec_driver_sql(f"pragma user_version = {version}")
    return False
