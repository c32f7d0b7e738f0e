"""The files of `published/`: the pointer, and the files of each snapshot, opened read-only and locked down."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import duckdb
import orjson

from api import served
from api.shelf import Shelf
from touchledger.settings import Settings

_FILE = re.compile(r"served-([0-9A-Za-z-]{1,64})\.duckdb")

Signature = tuple[int, int, int]
UNREADABLE: Signature = (0, 0, 0)


class Unopenable(Exception):
    """The pointer or the file it names cannot be served; the text says why and holds no path outside the folder."""


class OpenSnapshot:
    """One open served file; `users` counts the requests reading it."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path, self.connection = path, connect(path, settings)
        try:
            self.snapshot_id, self.token = _identity(self.connection, path)
        except BaseException:
            self.connection.close()
            raise
        self.users = 0
        self.used_at = time.monotonic()
        self.remembered: dict[str, served.ProfileFacts | None] = {}
        self.shelf = Shelf(settings.served_cache_mb)


def connect(path: Path, settings: Settings) -> duckdb.DuckDBPyConnection:
    """A connection that can read this file and nothing else; raises Unopenable."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "memory_limit": settings.served_memory_limit,
        "threads": str(settings.served_threads),
        "lock_configuration": "true",
    }
    try:
        return duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.Error as broken:
        raise Unopenable(f"{path.name} cannot be opened") from broken


def _identity(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, int]:
    try:
        lacking = served.missing(connection)
        if lacking:
            raise Unopenable(f"{path.name} lacks {', '.join(lacking[:5])}")
        snapshot_id, token = connection.execute("select snapshot_id, token from snapshot").fetchall()[0]
    except (duckdb.Error, IndexError) as broken:
        raise Unopenable(f"{path.name} cannot be read") from broken
    if path.name != file_of(snapshot_id):
        raise Unopenable(f"{path.name} says it is snapshot {snapshot_id}")
    return str(snapshot_id), int(token)


def is_damage(problem: duckdb.Error) -> bool:
    """Whether a query failed on the file itself: a read error, or a block whose checksum is wrong."""
    # DuckDB 2.0 reports a wrong checksum as the bare base class
    return type(problem) is duckdb.Error or isinstance(problem, duckdb.IOException | duckdb.FatalException)


def signature(path: Path) -> Signature | None:
    """What changes when the pointer is replaced; None when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return UNREADABLE
    return found.st_ino, found.st_mtime_ns, found.st_size


def pointer(path: Path) -> dict[str, Any]:
    """The pointer's content; raises Unopenable when it is not a JSON object."""
    try:
        content = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as broken:
        raise Unopenable("the pointer to the current snapshot cannot be read") from broken
    if not isinstance(content, dict):
        raise Unopenable("the pointer to the current snapshot cannot be read")
    return content


def file_of(snapshot_id: str) -> str:
    """Name of the served file of a snapshot."""
    return f"served-{snapshot_id}.duckdb"


def names_file(snapshot_id: str) -> str:
    """Name of the file beside it that says who its people are."""
    return f"names-{snapshot_id}.duckdb"


def snapshot_of(name: object) -> str:
    """Id of the snapshot a served file holds; raises Unopenable for any other file name."""
    match = _FILE.fullmatch(str(name))
    if match is None:
        raise Unopenable("the pointer names no served file")
    return match[1]
