"""What DuckDB may take of this machine while the warehouse is built, checked and published."""

from __future__ import annotations

from functools import cache

import duckdb

from touchledger.settings import Settings

# the type that duckdb.connect() asks of its config
Config = dict[str, str | bool | int | float | list[str]]


def limits(settings: Settings) -> Config:
    """Memory and threads of a build, as settings of a database."""
    return {"memory_limit": settings.warehouse_memory_limit, "threads": threads(settings)}


def threads(settings: Settings) -> int:
    """Threads of a build: as many as are set, else one for each core."""
    return settings.warehouse_threads or _cores()


@cache
def _cores() -> int:
    # DuckDB's own count, which knows what a container may use
    with duckdb.connect() as connection:
        row = connection.execute("select current_setting('threads')").fetchone()
    return int(row[0]) if row else 1
