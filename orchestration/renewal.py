"""How marts come into a snapshot's file: copied whole or, into a copy of the file before, the rows that differ.

Deleted rows stay in the blocks of a copied file. So only a file of the same whole build is copied: every erasure drops
the warehouse, the build after it is whole, and so is the file of that build.

Where the file holds what the build before left, a mart that kept its rows can differ only in those that it made anew.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb

from orchestration import durable, increment, pointer
from orchestration.kept_rows import Kept
from orchestration.served_tables import ServedTable, broken_rows, late, quoted, refuse, require_fresh_rows, runs
from touchledger.settings import Settings

Told = TypeVar("Told")

WAREHOUSE = "warehouse"
MARTS = f"{WAREHOUSE}.marts"
MOST_RUNS, ROWS_TO_A_RUN = 32, 300_000
# a table is written anew when one row in so many lies behind its place, where readers open blocks in vain
LATE_ONE_IN = 10


def lineage(settings: Settings, tables: Sequence[ServedTable]) -> str | None:
    """What a snapshot must have in common with the next one to be renewed: the whole build behind it, and the promises.

    None where the warehouse does not know its whole build.
    """
    whole = increment.builds(settings).whole
    return f"{whole}:{hashlib.sha256(repr(tables).encode()).hexdigest()[:12]}" if whole else None


@dataclass(frozen=True)
class Ancestor:
    """A file that may be renewed, and its checksum; `kept` are the marts in which the newest build kept its rows."""

    path: Path
    checksum: str
    kept: Mapping[str, Kept]

    def copied(self, to: Path) -> bool:
        """Copy the file; false where it is damaged, which nobody else would find where few rows are read."""
        shutil.copyfile(self.path, to)
        return durable.checksum(to) == self.checksum


def ancestor(settings: Settings, tables: Sequence[ServedTable], kept: Mapping[str, Kept]) -> Ancestor | None:
    """The file of the current snapshot where that may be renewed; `kept` are the marts that keep rows in increments."""
    current, wanted = pointer.read_to_replace(settings.published), lineage(settings, tables)
    if current is None or wanted is None:
        return None
    path = settings.published / current.file
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute("select lineage, build from snapshot").fetchone()
    except duckdb.Error:
        return None
    if found is None or found[0] != wanted:
        return None
    before = increment.builds(settings).before
    return Ancestor(path, current.checksum, kept if before and found[1] == before else {})


def copy(connection: duckdb.DuckDBPyConnection, table: ServedTable) -> int:
    """Copy one mart in the order of its grain, which is the order its readers scan it in, or in a few runs of it."""
    name = quoted(table.name)
    mart = f"{MARTS}.{name}"
    rows = _count(connection, mart)
    # Most models end in that order already, and to sort a large mart once more takes five times the copy. A build that
    # keeps rows puts the new ones last, in order among themselves: for each such run a reader opens one block more.
    most = min(1 + rows // ROWS_TO_A_RUN, MOST_RUNS)
    order = "" if runs(connection, mart, table) <= most else f" order by {table.grain_list}"
    connection.execute(f"create table {name} as select {table.column_list} from {mart}{order}")  # noqa: S608
    return rows


def renew(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ServedTable], kept: Mapping[str, Kept], *, at_once: int
) -> dict[str, int]:
    """Make the tables of an older snapshot equal to the marts, so many at once; gives their rows.

    Of marts in `kept` only the rows made anew are compared: the others must be those that the snapshot holds. Raises
    ContractBrokenError where what is new breaks a promise.
    """
    catalog, schema = MARTS.split(".")
    stored = connection.execute(
        "select table_name from duckdb_tables() where database_name = ? and schema_name = ?", [catalog, schema]
    ).fetchall()

    def write(cursor: duckdb.DuckDBPyConnection, table: ServedTable) -> int:
        # rows of a view have no numbers
        return _renewed(cursor, table, kept.get(table.name)) if (table.name,) in stored else _anew(cursor, table)

    return for_each(connection, tables, write, at_once=at_once)


def for_each(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[ServedTable],
    work: Callable[[duckdb.DuckDBPyConnection, ServedTable], Told],
    *,
    at_once: int,
) -> dict[str, Told]:
    """Work on so many tables at once, each in a transaction of its own; gives by name what `work` tells of each."""

    def done(cursor: duckdb.DuckDBPyConnection, table: ServedTable) -> Told:
        # a cursor left open keeps the file open
        with cursor:
            cursor.begin()
            told = work(cursor, table)
            cursor.commit()
        return told

    with ThreadPoolExecutor(at_once) as pool:
        found = {table.name: pool.submit(done, connection.cursor(), table) for table in tables}
        return {name: told.result() for name, told in found.items()}


def _anew(connection: duckdb.DuckDBPyConnection, table: ServedTable) -> int:
    connection.execute(f"drop table main.{quoted(table.name)}")
    rows = copy(connection, table)
    refuse(broken_rows(connection, table))
    return rows


def _renewed(connection: duckdb.DuckDBPyConnection, table: ServedTable, kept: Kept | None) -> int:
    served, mart = f"main.{quoted(table.name)}", f"{MARTS}.{quoted(table.name)}"
    gone, come = _compare(connection, table, (served, mart), kept)
    if gone:
        connection.execute(f"delete from {served} where rowid in (select had from differing)")  # noqa: S608
    if come:
        connection.execute(
            f"create or replace temp table fresh as select {table.column_list} from {mart}"  # noqa: S608
            f" where rowid in (select has from differing) order by {table.grain_list}"
        )
        connection.execute(f"insert into {served} from fresh")
    rows = _count(connection, served)
    # a row that is there twice is matched by its double; and only what came can lie behind
    if rows != _count(connection, mart) or (come and late(connection, served, table) * LATE_ONE_IN > rows):
        return _anew(connection, table)
    if come:
        require_fresh_rows(connection, served, "fresh", table)
    return rows


def _compare(
    connection: duckdb.DuckDBPyConnection, table: ServedTable, sides: tuple[str, str], kept: Kept | None
) -> tuple[int, int]:
    """Put into `differing` the numbers of rows that only the served table or only the mart has; gives how many."""
    only = kept.only(WAREHOUSE) if kept else ""
    before, now = (
        f"(select rowid as row_no, hash({table.column_list}) as digest from {side} as kept {only})"  # noqa: S608
        for side in sides
    )
    connection.execute(
        "create or replace temp table differing as select before.row_no as had, now.row_no as has"  # noqa: S608
        f" from {before} as before full outer join {now} as now"
        " on before.digest = now.digest where before.row_no is null or now.row_no is null"
    )
    gone, come = connection.execute("select count(had), count(has) from differing").fetchall()[0]
    return int(gone), int(come)


def _count(connection: duckdb.DuckDBPyConnection, relation: str) -> int:
    row = connection.execute(f"select count(*) from {relation}").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
