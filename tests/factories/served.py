"""Small served files and their pointer, from hand-written rows or CSV files of the golden folder."""

from __future__ import annotations

import csv
import json
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from api.served import CONVERSION_TYPES, TABLES

STRINGS = {
    "profile_id", "time_zone", "currency", "settings_version", "level", "entity_id", "platform", "platform_id", "name",
    "status", "objective", "budget_currency", "parent_name", "campaign_platform_id", "ad_set_platform_id", "model",
    "reason", "snapshot_id", "schema_hash",
}  # fmt: skip
DATES = {"day", "date_from", "date_to", "delivery_through"}
INTEGERS = {"profile_key", "entity_key", "campaign_key", "ad_set_key", "currency_digits", *CONVERSION_TYPES}
MAY_BE_NULL = {
    "status", "objective", "daily_budget_minor", "budget_currency", "campaign_key", "ad_set_key", "parent_name",
    "campaign_platform_id", "ad_set_platform_id", "link_clicks", "messaging_conversations_started_7d",
    "platform_conversions", "platform_conversion_value_minor", "delivery_through", "data_as_of",
}  # fmt: skip

Rows = Mapping[str, Iterable[Mapping[str, object]]]


def type_of(column: str) -> str:
    """The DuckDB type a served column is published with."""
    if column in STRINGS:
        return "varchar"
    if column in DATES:
        return "date"
    if column == "data_as_of":
        return "timestamp"
    if column == "platform_conversions":
        return "decimal(18,4)"
    return "integer" if column in INTEGERS else "bigint"


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Empty tables of every served name."""
    for table, columns in TABLES.items():
        connection.execute(f"create table {table} ({', '.join(f'{column} {type_of(column)}' for column in columns)})")


def publish(published: Path, rows: Rows, *, token: int = 1, snapshot_id: str | None = None) -> str:
    """Write a served file with these rows (what a row leaves out is 0, or null where null may be) and point at it."""
    snapshot_id = snapshot_id or str(uuid.uuid4())
    published.mkdir(parents=True, exist_ok=True)
    path = published / f"served-{snapshot_id}.duckdb"
    with duckdb.connect(str(path), config={"storage_compatibility_version": "v1.5.0"}) as connection:
        create_tables(connection)
        for table, given in rows.items():
            _insert(connection, table, given)
        connection.execute("insert into snapshot values (?, ?, 0, 'made by a test')", [snapshot_id, token])
    point(published, snapshot_id, token=token)
    return snapshot_id


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


def from_csv(folder: Path) -> dict[str, list[dict[str, object]]]:
    """Rows of each `<table>.csv` in a folder; an empty cell is left out."""
    tables = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            tables[path.stem] = [
                {name: value for name, value in row.items() if value != ""} for row in csv.DictReader(file)
            ]
    return {table: [dict[str, object](row) for row in found] for table, found in tables.items()}


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, object]]) -> None:
    columns = TABLES[table]
    unknown = {name for row in rows for name in row} - set(columns)
    assert not unknown, f"{table} has no {unknown}"
    values = [[row.get(name, None if name in MAY_BE_NULL else 0) for name in columns] for row in rows]
    if values:
        connection.executemany(f"insert into {table} values ({', '.join('?' for _ in columns)})", values)
