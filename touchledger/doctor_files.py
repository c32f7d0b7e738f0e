"""What the doctor looks at in the state folder: whether what lies there is whole, and belongs together."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import sqlalchemy as sa

from api.snapshot_files import OpenSnapshot, Unopenable, connect, names_file
from orchestration import durable, pointer
from orchestration.importer import lost_imports
from orchestration.lake import Lake
from orchestration.lake_owners import LostLakeError, require_its_lake
from orchestration.landed_facts import DamagedRawFileError, read_facts, require_footer
from orchestration.warehouse_state import DamagedWarehouseError, is_left_unfinished, require_database
from touchledger import own_folder
from touchledger.finding import Finding
from touchledger.lost_key import lost_tokens, require_own_key
from touchledger.output import spelt
from touchledger.own_key import LostKeyError
from touchledger.settings import SPARE_BYTES, Settings

ENOUGH_BYTES = 2 * 1024**3
# what processes and commands write in the state folder; the lake, which may be large, is looked at by itself
OURS = (
    *("operational.db", "operational.db-wal", "operational.db-shm", "operational.db-turn", "clock.json"),
    *("warehouse.duckdb", "warehouse.duckdb.wal", "warehouse.base", "warehouse.built", "checked", "dagster", "dbt"),
    *(".dbt", "docs", "inbox", "locks", "logos", "logs", "media", "published", "ranking", "reports"),
)
WRITTEN_IN = ("dagster", "dbt", "lake", "locks", "logs")
# the way out of a link of what may lie on another disk
PUT_BACK = "mount, or put back, what it leads to"


def is_there(path: Path) -> bool:
    """Whether something is there and may be asked for."""
    try:
        return path.exists()
    except OSError:
        # in a folder that may not be entered, or longer than a name may be
        return False


def nearest(folder: Path) -> Path:
    """The folder, or the first one above it that is there."""
    return next(path for path in (folder, *folder.parents) if is_there(path))


def disk(folder: Path) -> Finding:
    """Whether there is room where the folder lies, or will."""
    place = nearest(folder)
    free, told = shutil.disk_usage(place).free, os.statvfs(place)
    found = f"{free / 1024**3:.1f} GiB free"
    # a file system without a fixed number of files tells none
    if told.f_files and not told.f_favail:
        way_out = "remove files, or give the file system more inodes"
        return Finding("disk", "fail", f"{found}, but no inode, so that no file can be made", way_out)
    if free >= ENOUGH_BYTES:
        return Finding("disk", "ok", found)
    # as /readyz judges it
    return Finding("disk", "warn" if free > SPARE_BYTES else "fail", found, "make room: 2 GiB or more")


def not_writable(folder: Path) -> str | None:
    """What keeps a file from being made in the folder, or in the one where it would be made; None when nothing does."""
    probe = nearest(folder) / ".touchledger-doctor"
    try:
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        return error.strerror
    return None


def open_to_all(settings: Settings) -> Iterator[Finding]:
    """Nobody else on this machine may read what the state folder holds; a group that an operator let in may."""
    try:
        found = list(own_folder.open_to_all(settings.home))
    except OSError:
        # not made yet; one that may not be entered is told where the folder itself is looked at
        found = []
    folders = {path.parent if not path.is_symlink() else path.resolve() for path in found}
    # what a run on Spark builds is there for as long as it runs, so the folder is judged and not what lies in it
    if settings.spark_folder is not None and own_folder.may_all_read(settings.spark_folder):
        folders.add(settings.spark_folder.absolute())
    for folder in sorted(folders):
        way_out = f"`chmod o-rwx {folder}` keeps them out"
        yield Finding("state folder", "warn", f"every user of this machine may read {folder}", way_out)


def within(settings: Settings) -> Iterator[Finding]:
    """What lies in the state folder is there, and may be read and written: commands tell the first that is not."""
    if not is_there(settings.home) or not_writable(settings.home):
        # not made yet, or told where the folder itself is looked at
        return
    folders = [settings.home / name for name in WRITTEN_IN]
    listed = (sorted(folder.iterdir()) for folder in folders if folder.is_dir() and _may_write(folder))
    found = [*(settings.home / name for name in OURS), *(path for paths in listed for path in paths)]
    for path in found:
        if path.is_symlink() and not is_there(path):
            yield Finding("state folder", "fail", f"{path} {durable.NOWHERE}", PUT_BACK)
    if closed := [str(path) for path in found if is_there(path) and not _may_write(path)]:
        told = f"{', '.join(closed[:3])}{', ...' if closed[3:] else ''} may not be read and written"
        yield Finding("state folder", "fail", told, "another user made it: give it to the one who runs this")


def _may_write(path: Path) -> bool:
    return os.access(path, os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0))


def signing_key(settings: Settings) -> Iterator[Finding]:
    """The key of the state folder is the one that its database was used with, and the tokens of accounts open."""
    if settings.database_url is None and not is_there(settings.home / "operational.db"):
        return
    try:
        require_own_key(settings)
        if lost := lost_tokens(settings):
            way_out = "set TOUCHLEDGER_TOKEN_KEY, or the signing key, as it was: docs/runbook.md"
            yield Finding("key", "fail", f"{lost:,} tokens of accounts are sealed under a key that is not set", way_out)
    except LostKeyError as error:
        found, _, way_out = str(error).partition("; ")
        yield Finding("key", "fail", found, way_out)
    except OSError as error:
        yield Finding("key", "fail", f"{error.filename}: {error.strerror}", "make it readable")
    except sa.exc.SQLAlchemyError:
        # told where the database is looked at
        return


def history(settings: Settings) -> Iterator[Finding]:
    """Dagster's own databases in the state folder can be read; without them nothing runs."""
    for name in ("history/runs.db", "history/runs/index.db", "schedules/schedules.db"):
        path = settings.dagster_home / name
        # a file system that lets nobody write is told where the state folder is looked at
        if not is_there(path) or os.statvfs(path).f_flag & os.ST_RDONLY:
            continue
        if not os.access(path, os.R_OK | os.W_OK):
            yield Finding("Dagster", "fail", f"{path} may not be read or written", "give it to the user who runs this")
            continue
        try:
            # of one that may only read, SQLite would leave its log behind
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as connection:
                ((found,),) = connection.execute("pragma quick_check(1)").fetchall()
        except sqlite3.OperationalError:
            # a full disk is no damage, and told by another look
            continue
        except sqlite3.DatabaseError as error:
            found = str(error)
        if found != "ok":
            gone = "history and storage" if name.startswith("history") else "schedules"
            way_out = f"remove {gone} in {settings.dagster_home} while nothing runs: docs/runbook.md"
            yield Finding("Dagster", "fail", f"{path}: {found.splitlines()[-1]}", way_out)


def landed_files(settings: Settings) -> list[Path]:
    """The files of the lake; none where it may not be entered, which is told where the lake itself is looked at."""
    try:
        return sorted((settings.lake / "raw").glob("*/*/*/*.parquet"))
    except OSError:
        return []


def lake(settings: Settings) -> Iterator[Finding]:
    """Every landed file tells of itself, and what it names of the quarantine is whole; nothing makes one anew."""
    raw, quarantine = settings.lake / "raw", settings.lake / "quarantine"
    landed = landed_files(settings)
    damaged = []
    try:
        Lake(settings.lake).require_open()
    except PermissionError as error:
        damaged.append((f"{error.filename} may not be read", "give it to the user who runs this"))
    except FileNotFoundError as error:
        damaged.append((f"{error.filename} {error.strerror}", PUT_BACK))
    except OSError as error:
        damaged.append((f"{error.filename} {error.strerror}", "move it back; a data set or all of lake/ may be a link"))
    for path in landed:
        looked_at = path
        try:
            if beside := read_facts(path).quarantine:
                looked_at = quarantine / path.parent.relative_to(raw) / beside
                require_footer(looked_at)
        except DamagedRawFileError as error:
            damaged.append(str(error).partition("; ")[::2])
        except FileNotFoundError:
            if path.is_symlink():
                damaged.append((f"{path} {durable.NOWHERE}", PUT_BACK))
                continue
            # a landed file was replaced or put together with others since the folder was listed
            if looked_at == path:
                continue
            damaged.append((f"{looked_at} is gone", "put it back from the backup (docs/runbook.md)"))
        except OSError as error:
            damaged.append((f"{looked_at}: {error.strerror}", "make it readable"))
    for found, way_out in damaged:
        yield Finding("lake", "fail", found, way_out)
    if landed and not damaged:
        yield Finding("lake", "ok", f"{len(landed):,} landed files tell what they hold")


def imports(settings: Settings) -> Iterator[Finding]:
    """The rows of every file that was imported are in the lake: no build says so, and none brings them back."""
    if settings.database_url is None and not is_there(settings.home / "operational.db"):
        return
    try:
        require_its_lake(settings.operational_url, Lake(settings.lake))
        lost = lost_imports(settings.operational_url, Lake(settings.lake))
    except LostLakeError as error:
        found, _, way_out = str(error).partition(": ")
        yield Finding("lake", "fail", found, way_out)
        return
    except (sa.exc.SQLAlchemyError, OSError):
        # told where the database and the lake are looked at
        return
    if lost:
        found = f"of {len(lost):,} imported files the rows are gone from the lake: {spelt(lost[0].file_name)} first"
        yield Finding("imports", "fail", found, "put the lake's files back from the backup, or import the files again")


def warehouse(settings: Settings) -> Iterator[Finding]:
    """The file of the warehouse is one of DuckDB's and built to its end; not opened, for a build may be writing it."""
    try:
        require_database(settings)
        is_unfinished = is_left_unfinished(settings)
    except DamagedWarehouseError as error:
        found, _, way_out = str(error).partition("; ")
        yield Finding("warehouse", "fail", found, way_out)
    except OSError as error:
        yield Finding("warehouse", "fail", f"{error.filename}: {error.strerror}", "make it readable")
    else:
        if is_unfinished:
            found = "the last build did not end well; what was served before still is"
            yield Finding("warehouse", "warn", found, "run `touchledger build`, which names what goes wrong")
        elif settings.warehouse.exists():
            yield Finding("warehouse", "ok", f"{settings.warehouse} is there")


def snapshot(settings: Settings) -> Iterator[Finding]:
    """The pointer can be read, and names files that the API opens: whole, and with all that this version reads."""
    try:
        current = pointer.read(settings.published)
        if current is None:
            yield Finding("snapshot", "warn", "nothing is published yet", "run `touchledger build`")
            return
        _require_whole(settings, current)
    except OSError as error:
        # the next build could not read it either
        yield Finding("snapshot", "fail", f"{error.filename}: {error.strerror}", "make it readable")
    except (ValueError, TypeError, Unopenable, duckdb.Error) as error:
        yield Finding(
            "snapshot",
            "fail",
            str(error).splitlines()[0],
            "run `touchledger build`; older snapshots are kept beside it",
        )
    else:
        yield Finding("snapshot", "ok", f"{current.snapshot_id} of {current.built_at}")


def _require_whole(settings: Settings, current: pointer.Pointer) -> None:
    """Raise where the API would refuse the current snapshot, or answers of people, or come upon damage in a query."""
    path = settings.published / current.file
    with OpenSnapshot(path, settings).connection:
        # where a block is damaged that only some queries read, no other look finds it
        if current.checksum and durable.checksum(path) != current.checksum:
            raise Unopenable(f"{current.file} is not what was published")
    with connect(settings.published / names_file(current.snapshot_id), settings) as names:
        # whatever reads less passes over the blocks of some columns, and a count over all of them
        names.execute("select bit_xor(hash(person_names)) from person_names").fetchall()
