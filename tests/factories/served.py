"""Small served files and their pointer, from hand-written rows or CSV files of the golden folder."""

from __future__ import annotations

import csv
import json
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path

import duckdb

from data_contracts import contract

NAMED = {name for name, table in contract.served().items() if table.names_people}
Rows = Mapping[str, Iterable[Mapping[str, object]]]


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Empty tables of every served contract that names nobody, and the one that names the snapshot."""
    _create(connection, (name for name, table in contract.served().items() if not table.names_people))


def _create(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
    for name in names:
        table = contract.served()[name]
        columns = ", ".join(f"{column.name} {column.physical}" for column in table.columns)
        connection.execute(f"create table {name} ({columns})")
    connection.execute(
        "create table snapshot (snapshot_id varchar, token bigint, built_at timestamptz, schema_hash varchar)"
    )


def publish(published: Path, rows: Rows, *, token: int = 1, snapshot_id: str | None = None) -> str:
    """Write a served file with these rows (what a row leaves out is null, else 0 or no text) and point at it."""
    snapshot_id = snapshot_id or str(uuid.uuid4())
    published.mkdir(parents=True, exist_ok=True)
    path = published / f"served-{snapshot_id}.duckdb"
    path.write_bytes(_empty())
    with _attached(path) as connection:
        connection.begin()
        for table, given in rows.items():
            if table not in NAMED:
                insert(connection, table, given)
        connection.execute(
            "insert into snapshot values (?, ?, '2026-11-16 00:00:00+00', 'made by a test')", [snapshot_id, token]
        )
        connection.commit()
    if {"customers", "visitors", *NAMED} & rows.keys():
        _publish_names(published / f"names-{snapshot_id}.duckdb", rows)
    point(published, snapshot_id, token=token)
    return snapshot_id


@cache
def _empty() -> bytes:
    """A served file without rows: to make its tables takes longer than to fill them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "empty.duckdb")
        with _attached(path) as connection:
            create_tables(connection)
        return path.read_bytes()


@cache
def _instance() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@contextmanager
def _attached(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection whose tables are those of the file: to start a DuckDB takes four times as long as to fill it."""
    name, quoted = f"file_{uuid.uuid4().hex}", str(path).replace("'", "''")
    try:
        with _instance().cursor() as connection:
            connection.execute(f"attach '{quoted}' as {name} (storage_version 'v1.5.0')")
            connection.execute(f"use {name}")
            yield connection
    finally:
        _instance().execute(f"detach database if exists {name}")


def _publish_names(path: Path, rows: Rows) -> None:
    with _attached(path) as connection:
        _create(connection, NAMED)
        for table in NAMED & rows.keys():
            insert(connection, table, rows[table])


def point(published: Path, snapshot_id: str, *, token: int = 1) -> None:
    """Move the pointer to a served file, as publication does: whole, and under a new inode."""
    pointer = {
        "snapshot_id": snapshot_id,
        "token": token,
        "file": f"served-{snapshot_id}.duckdb",
        "schema_hash": "made by a test",
        "built_at": "2026-11-16T00:00:00Z",
    }
    temporary = published / f".pointer-{uuid.uuid4().hex}"
    temporary.write_text(json.dumps(pointer))
    temporary.replace(published / "current.json")


@contextmanager
def unreadable_pointer(published: Path) -> Iterator[None]:
    """Within the block, whoever reads the pointer meets an OSError, as on a disk that fails."""
    path, aside = published / "current.json", published / "aside.json"
    path.rename(aside)
    path.mkdir()
    yield
    path.rmdir()
    aside.rename(path)


def from_csv(folder: Path) -> dict[str, list[dict[str, object]]]:
    """Rows of each `<table>.csv` in a folder; an empty cell is left out."""
    tables = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            tables[path.stem] = [
                {name: value for name, value in row.items() if value != ""} for row in csv.DictReader(file)
            ]
    return {table: [dict[str, object](row) for row in found] for table, found in tables.items()}


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Put rows into a table; what a row leaves out is null, else 0 or no text."""
    columns = contract.served()[table].columns
    unknown = {name for row in rows for name in row} - {column.name for column in columns}
    assert not unknown, f"{table} has no {unknown}"
    values = [[row.get(column.name, _absent(column)) for column in columns] for row in rows]
    insert_rows(connection, table, values)


def insert_rows(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Put rows with a value for each column into a table, many at once: one by one takes five times as long."""
    for first in range(0, len(rows), 200):
        some = rows[first : first + 200]
        places = ", ".join(f"({', '.join('?' * len(row))})" for row in some)
        connection.execute(f"insert into {table} values {places}", [*chain.from_iterable(some)])


def _absent(column: contract.Column) -> object:
    if not column.required:
        return None
    return "" if column.kind == "text" else 0
