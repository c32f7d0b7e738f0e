"""What DuckDB keeps beside a database's file, all of which a killed process leaves: its logs, and what it spilled."""

from __future__ import annotations

from pathlib import Path

# the logs of a checkpoint and of its recovery among them; the last is a folder
BESIDE = (".wal", ".wal.checkpoint", ".wal.recovery", ".tmp")


def beside(database: Path) -> list[Path]:
    """Where the logs and the spilled rows of a database are; not all, and mostly none, of them are there."""
    return [database.with_name(f"{database.name}{ending}") for ending in BESIDE]


def whole(database: Path) -> list[Path]:
    """The database's file and what is beside it."""
    return [database, *beside(database)]
