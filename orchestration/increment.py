"""What the lake holds that the warehouse does not know yet, so that a build computes anew only what that touches.

A build starts from the base of the one before: the models it ran, and the files it read with their sizes, times and
landing numbers. Without a base (none yet, other models, a build that failed or ran in part) a build is whole.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import uuid_utils

from orchestration import durable
from orchestration.dbt_manifest import PROJECT, fingerprint
from orchestration.landed_facts import SCHEMA, read_facts
from touchledger.settings import Settings

DATASET = "touches"
# new touches up to which a build keeps rows, however few are known
MANY = 200_000
# builds that keep rows before one makes everything anew: each leaves some space of its deleted rows unused
MOST = 200
FULL_REFRESH = "--full-refresh"
# What may be said beside `build` or `run` while every model is still built, and with which values; None is any. What is
# not here may leave models out, or make them of other rows, so that nothing could be kept of them.
HARMLESS: dict[str, set[str] | None] = {
    "--select": {"fqn:*"},
    "--exclude": {"resource_type:unit_test"},
    "--exclude-resource-type": {"test", "unit_test"},
    FULL_REFRESH: set(),
    "--no-write-json": set(),
    "--quiet": set(),
    **dict.fromkeys(("--project-dir", "--profiles-dir", "--target-path", "--log-path", "--log-format-file"), None),
}


@dataclass(frozen=True)
class Landed:
    """A file of the lake as it was read: bytes, nanoseconds of its last change, its landing number and its rows."""

    size: int
    changed_at: int
    seq: int
    rows: int


@dataclass(frozen=True)
class Base:
    """What the warehouse was built from: a fingerprint of its models, and the files of touches by path in the lake.

    `increments` are the builds since the last whole one, and `whole` is that one's own id.
    """

    models: str
    files: dict[str, Landed]
    increments: int = 0
    whole: str = ""


def is_whole(arguments: Sequence[str]) -> bool:
    """Whether dbt, called so, builds every model."""
    if not arguments or arguments[0] not in ("build", "run"):
        return False
    allowed: set[str] | None = set()
    for argument in arguments[1:]:
        if argument.startswith("-"):
            if argument not in HARMLESS:
                return False
            allowed = HARMLESS[argument]
        elif allowed is not None and argument not in allowed:
            return False
    return True


def begin(settings: Settings, arguments: Sequence[str]) -> tuple[list[str], Base | None]:
    """The arguments dbt is to be called with, and the base that its success makes; None where it makes none.

    The base before is gone from here on, so that a run that does not end well is followed by a whole build. Where the
    build can be an increment, the warehouse's schema `changes` tells what is new.
    """
    if not arguments or arguments[0] not in ("build", "run"):
        return list(arguments), None
    before = _take_base(settings)
    now = _base(settings, before.files if before else {})
    if now is None or not is_whole(arguments):
        return _fully(arguments), None
    if before is None or before.models != now.models or FULL_REFRESH in arguments or not settings.warehouse.exists():
        return _fully(arguments), now
    if before.increments >= MOST:
        return _fully(arguments), now
    known = sum(file.rows for file in before.files.values())
    if is_much(sum(file.rows for path, file in now.files.items() if before.files.get(path) != file), known):
        return _fully(arguments), now
    _tell_changes(settings, before.files, now.files)
    return list(arguments), replace(now, increments=before.increments + 1, whole=before.whole or now.whole)


def is_much(new: int, known: int) -> bool:
    """Whether so many new touches beside those known are built faster by making everything anew, piece by piece."""
    return new > MANY and new * 5 > known


def end(settings: Settings, base: Base) -> None:
    """Keep what the finished build was made from."""
    told = {
        "models": base.models,
        "increments": base.increments,
        "whole": base.whole,
        "files": {path: astuple(file) for path, file in base.files.items()},
    }
    durable.write_text(_path(settings), json.dumps(told))


def whole_build(settings: Settings) -> str | None:
    """Id of the whole build that the warehouse goes back to; None where nobody knows what it was built from."""
    path = _path(settings)
    return json.loads(path.read_text()).get("whole") or None if path.exists() else None


def forget(settings: Settings) -> None:
    """Make the next build a whole one."""
    _path(settings).unlink(missing_ok=True)


def _path(settings: Settings) -> Path:
    return settings.home / "warehouse.base"


def _fully(arguments: Sequence[str]) -> list[str]:
    return [*arguments] if FULL_REFRESH in arguments else [arguments[0], FULL_REFRESH, *arguments[1:]]


def _take_base(settings: Settings) -> Base | None:
    path = _path(settings)
    if not path.exists():
        return None
    told = json.loads(path.read_text())
    path.unlink()
    files = {name: Landed(*facts) for name, facts in told["files"].items()}
    return Base(told["models"], files, told.get("increments", 0), told.get("whole", ""))


def _base(settings: Settings, known: dict[str, Landed]) -> Base | None:
    """None where a file does not tell its landing: it was not landed by us, and nobody knows when it changes."""
    files = {}
    for path in sorted((settings.lake / "raw" / DATASET).glob("*/*/*.parquet")):
        name, status = str(path.relative_to(settings.lake)), path.stat()
        same = known.get(name)
        if same is None or (same.size, same.changed_at) != (status.st_size, status.st_mtime_ns):
            try:
                facts = read_facts(path)
            except KeyError:
                return None
            same = Landed(status.st_size, status.st_mtime_ns, facts.seq, facts.rows_loaded)
        files[name] = same
    return Base(f"{fingerprint(PROJECT, settings)}:{version('duckdb')}", files, whole=str(uuid_utils.uuid7()))


def _tell_changes(settings: Settings, before: dict[str, Landed], now: dict[str, Landed]) -> None:
    gone = sorted({file.seq for path, file in before.items() if now.get(path) != file})
    new = [str(settings.lake / path) for path, file in now.items() if before.get(path) != file]
    limits: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": settings.warehouse_memory_limit,
        "threads": settings.warehouse_threads,
    }
    with duckdb.connect(str(settings.warehouse), config=limits) as connection:
        connection.execute("create schema if not exists changes")
        connection.execute("set TimeZone = 'UTC'")
        folder = settings.lake / "raw" / DATASET
        Changes(connection, [str(folder / SCHEMA), *new], str(folder / "**" / "*.parquet"), gone).tell()


@dataclass(frozen=True)
class Changes:
    """The tables of schema `changes`: every version of the touches that `new` files or `gone` landings hold."""

    connection: duckdb.DuckDBPyConnection
    new: list[str]
    every: str
    gone: list[int]

    def tell(self) -> None:
        """Write touch_keys, touches (as the lake has them) and touch_identities (whose the touches were)."""
        self._run(
            "create or replace table changes.touch_keys as"
            " select distinct _profile_id as profile_id, touch_key from read_parquet($new, union_by_name = true)"
            " union select profile_id, touch_key from staging.stg_app__touches"
            " where list_contains($gone, record_no // 4294967296)",
            new=self.new,
            gone=self.gone,
        )
        # a key that is nowhere else, as nearly every new touch's, needs no look at the columns of the old ones
        self._run(
            "create or replace temp table older as select _seq, _line from"
            " read_parquet($every, union_by_name = true, hive_partitioning = false) as records"
            " semi join changes.touch_keys as keys"
            " on records._profile_id = keys.profile_id and records.touch_key = keys.touch_key"
            " where _seq not in (select _seq from read_parquet($new, union_by_name = true))",
            every=self.every,
            new=self.new,
        )
        self._run(
            "create or replace table changes.touches as select * from read_parquet($new, union_by_name = true)",
            new=self.new,
        )
        if self._count("older"):
            self._run(
                "insert into changes.touches by name select records.* from"
                " read_parquet($every, union_by_name = true, hive_partitioning = false) as records"
                " semi join older on records._seq = older._seq and records._line = older._line",
                every=self.every,
            )
        self._run(
            "create or replace table changes.touch_identities as"
            " select profile_id, identity_key, min(occurred_s) as occurred_s from staging.stg_app__touches"
            " where $known and (profile_id, touch_key) in (from changes.touch_keys) group by all",
            known=bool(self.gone or self._count("older")),
        )

    def _run(self, sql: str, **values: Any) -> None:
        self.connection.execute(sql, values or None)

    def _count(self, table: str) -> int:
        row = self.connection.execute(f"select count(*) from {table}").fetchone()  # noqa: S608 - our own name
        return int(row[0]) if row else 0
