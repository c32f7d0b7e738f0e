"""Publication: marts become one immutable file behind a pointer, or nothing changes at all.

Build under a temporary name, check, close, make durable, then move the pointer under a fencing token. A crash at any
point leaves the previous snapshot served, and readers never meet half a file. What names people goes to a second file
beside it, which comes before the pointer moves and goes when its snapshot goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from api.db import new_id, now, transaction
from api.models import Run
from orchestration import database_files, durable, increment, pointer, renewal
from orchestration.kept_rows import Kept
from orchestration.limits import limits, threads
from orchestration.locks import only_writer
from orchestration.pointer import Pointer
from orchestration.renewal import MARTS, WAREHOUSE, Ancestor, copy, for_each, renew
from orchestration.served_tables import ServedTable, broken_rows, refuse, require_columns, schema_hash
from touchledger.settings import Settings

# snapshots stay readable by DuckDB 1.5, so that an upgrade of DuckDB can be taken back
STORAGE = {"storage_compatibility_version": "v1.5.0"}
WAIT_SECONDS = 60.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Publication:
    """What was published: the new pointer, rows per table, and the file's size in bytes."""

    pointer: Pointer
    rows: dict[str, int]
    size: int


def take_token(operational_url: str, *, above: int = 0) -> int:
    """A token for a run that starts now; larger than that of every run before it, and than `above`.

    That is what is served: a database that was put back from a backup knows of fewer runs than have published.
    """
    with transaction(operational_url) as session:
        run = Run()
        session.add(run)
        session.flush()
        if run.id <= above:
            session.delete(run)
            session.flush()
            run = Run(id=above + 1)
            session.add(run)
            session.flush()
            _count_on_from(session, run.id)
        return run.id


def _count_on_from(session: Session, token: int) -> None:
    # SQLite counts on by itself from an id that was given
    if session.get_bind().dialect.name == "postgresql":
        session.scalar(sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(Run.__tablename__, Run.id.key), token)))


def publish(
    settings: Settings, *, token: int, tables: Sequence[ServedTable], kept: Mapping[str, Kept] | None = None
) -> Publication:
    """Publish the warehouse's marts, of which those in `kept` keep rows in an increment.

    Raises ContractBrokenError or StaleTokenError; then the previous snapshot keeps serving and nothing is left behind.
    """
    settings.published.mkdir(parents=True, exist_ok=True)
    with only_writer(settings.published / ".building", purpose="build a snapshot", wait_seconds=WAIT_SECONDS):
        _sweep(settings.published)
        snapshot_id = new_id()
        to = Pointer(
            snapshot_id=snapshot_id,
            token=token,
            file=f"served-{snapshot_id}.duckdb",
            schema_hash=schema_hash(tables),
            built_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        to, rows = _publish_file(settings, to, tables, kept or {})
        prune(settings.published, keep=settings.served_keep)
    _record(settings.operational_url, to)
    return Publication(to, rows, (settings.published / to.file).stat().st_size)


def _publish_file(
    settings: Settings, to: Pointer, tables: Sequence[ServedTable], kept: Mapping[str, Kept]
) -> tuple[Pointer, dict[str, int]]:
    named = [table for table in tables if table.names_people]
    told = [table for table in tables if not table.names_people]
    final, names = settings.published / to.file, settings.published / _names_beside(to.file)
    try:
        rows = _put(settings, names, to, named, mode=0o440) if named else {}
        rows |= _put(settings, final, to, told, mode=0o444, before=renewal.ancestor(settings, told, kept))
        to = replace(to, checksum=durable.checksum(final))
        pointer.move(settings.published, to, newest=_newest_token(settings.operational_url))
    except BaseException:
        # the failure may have come after the pointer was renamed: a file that it names is never removed
        current = pointer.read_to_replace(settings.published)
        if current is None or current.file != to.file:
            durable.remove(final, names)
        raise
    return to, rows


def _names_beside(file: str) -> str:
    return file.replace("served-", "names-", 1)


def _put(
    settings: Settings,
    final: Path,
    to: Pointer,
    tables: Sequence[ServedTable],
    *,
    mode: int,
    before: Ancestor | None = None,
) -> dict[str, int]:
    building = final.with_name(f"building-{final.name}")
    try:
        rows = _renewed(settings, building, to, tables, before) if before else None
        if rows is None:
            rows = _build(settings, building, to, tables)
        building.chmod(mode)
        durable.put_in_place(building, final)
    finally:
        durable.remove(*database_files.whole(building))
    return rows


def _build(settings: Settings, path: Path, to: Pointer, tables: Sequence[ServedTable]) -> dict[str, int]:
    with _opened(settings, path, tables) as connection:
        rows = for_each(connection, tables, copy, at_once=_at_once(settings))
        _write_snapshot(connection, to, settings, tables)
        broken = for_each(connection, tables, broken_rows, at_once=_at_once(settings))
        refuse(problem for problems in broken.values() for problem in problems)
        connection.execute("checkpoint")
    return rows


def _at_once(settings: Settings) -> int:
    """How many tables are written at once: the end of one, which takes one thread, beside the next."""
    return min(threads(settings), 2)


def _renewed(
    settings: Settings, path: Path, to: Pointer, tables: Sequence[ServedTable], before: Ancestor
) -> dict[str, int] | None:
    """None, and no file, where the one before turns out to be damaged."""
    try:
        if not before.copied(path):
            raise duckdb.IOException("it is not what was published")
        with _opened(settings, path, tables) as connection:
            # one checkpoint at the end instead of one after every few tables
            connection.execute("set checkpoint_threshold = '1TB'")
            rows = renew(connection, tables, before.kept, at_once=_at_once(settings))
            _write_snapshot(connection, to, settings, tables)
            connection.execute("checkpoint")
    except duckdb.Error as problem:
        log.warning(
            "the snapshot before cannot be renewed; all is written anew", file=before.path.name, problem=str(problem)
        )
        # what a failed checkpoint left in the log would be taken over into the next file of that name
        durable.remove(*database_files.whole(path))
        return None
    return rows


@contextmanager
def _opened(settings: Settings, path: Path, tables: Sequence[ServedTable]) -> Iterator[duckdb.DuckDBPyConnection]:
    """The file that is being built, beside the warehouse, whose marts have the promised columns."""
    with duckdb.connect(str(path), config={**STORAGE, **limits(settings)}) as connection:
        connection.execute("set enable_progress_bar = false")
        connection.execute(
            "attach '{}' as {} (read_only)".format(str(settings.warehouse).replace("'", "''"), WAREHOUSE)
        )
        require_columns(connection, MARTS, tables)
        yield connection


def _write_snapshot(
    connection: duckdb.DuckDBPyConnection, to: Pointer, settings: Settings, tables: Sequence[ServedTable]
) -> None:
    connection.execute(
        "create or replace table snapshot (snapshot_id varchar, token bigint, built_at timestamptz,"
        " schema_hash varchar, lineage varchar, build varchar)"
    )
    build = increment.builds(settings).newest
    connection.execute(
        "insert into snapshot values (?, ?, ?::timestamptz, ?, ?, ?)",
        [to.snapshot_id, to.token, to.built_at, to.schema_hash, renewal.lineage(settings, tables), build],
    )


def _sweep(published: Path) -> None:
    """Remove what a killed build left; the caller holds the builder's lock, so nobody is writing these."""
    durable.remove(*published.glob("building-*"))


def prune(published: Path, *, keep: int) -> list[str]:
    """Remove all but the current snapshot and the newest `keep - 1` of the others; cursors of those have expired.

    Their ids sort by time, but a clock that was set back gives the current one an older id than those before it. What
    was spilled beside a file goes with it: it may hold what an erasure took out of the next.
    """
    current = pointer.read(published)
    others = sorted(path.name for path in published.glob("served-*.duckdb") if not current or path.name != current.file)
    staying = keep - 1 if current else keep
    old = others[: max(len(others) - staying, 0)]
    kept = {*others[len(old) :], *([current.file] if current else [])}
    kept |= {_names_beside(name) for name in kept}
    beside = [path for kind in ("served", "names") for path in published.glob(f"{kind}-*.duckdb*")]
    durable.remove(*(path for path in beside if f"{path.name.partition('.duckdb')[0]}.duckdb" not in kept))
    return old


def _newest_token(operational_url: str) -> int:
    with transaction(operational_url) as session:
        return session.scalar(sa.select(sa.func.max(Run.id)).where(Run.published_at.is_not(None))) or 0


def _record(operational_url: str, published: Pointer) -> None:
    with transaction(operational_url) as session:
        run = session.get(Run, published.token)
        if run is not None:
            run.published_at, run.snapshot_id = now(), published.snapshot_id
