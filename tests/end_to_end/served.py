"""Reading what a deployment serves: through the API as a client, and the published file as bytes of meaning."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from flask.testing import FlaskClient

from api.app import create_app
from touchledger.settings import Settings


def client_of(home: Path) -> FlaskClient:
    """A client of the API over that state folder."""
    return create_app(Settings(home=home)).test_client()


def answer(client: FlaskClient, key: str, path: str, **query: object) -> dict[str, Any]:
    """The whole body of a GET that must answer 200."""
    response = client.get(f"/api/v1{path}", query_string=query, headers={"Authorization": f"Bearer {key}"})
    assert response.status_code == 200, response.get_data(as_text=True)
    body: dict[str, Any] = response.get_json()
    return body


def all_campaigns(client: FlaskClient, key: str, **query: object) -> list[dict[str, Any]]:
    """Every row of GET /campaigns, over all its pages."""
    rows: list[dict[str, Any]] = []
    cursor: dict[str, object] = {}
    while True:
        body = answer(client, key, "/campaigns", limit=100, **query, **cursor)
        rows += body["data"]
        if body["meta"]["next_cursor"] is None:
            assert len(rows) == body["meta"]["rows_total"]
            return rows
        cursor = {"cursor": body["meta"]["next_cursor"]}


def published_file(home: Path) -> Path:
    """The served file that the pointer names."""
    pointer = json.loads((home / "published" / "current.json").read_text())
    return home / "published" / str(pointer["file"])


@contextmanager
def _opened(home: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    # a copy: one process cannot open one file twice with different settings, and the API's client may hold it
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(published_file(home), folder)
        with duckdb.connect(copy, read_only=True) as connection:
            yield connection


def rows_of(home: Path, query: str) -> list[tuple[Any, ...]]:
    """Rows of a query over the served file."""
    with _opened(home) as connection:
        return connection.execute(query).fetchall()


def figures(home: Path) -> dict[str, str]:
    """A hash per served table of all its rows, in order; what names the run or the hour is left out."""
    return {table: digest for table, digest in _hashes(home) if table != "snapshot"}


def _hashes(home: Path) -> Iterator[tuple[str, str]]:
    with _opened(home) as connection:
        tables = [
            name for (name,) in connection.execute("select table_name from duckdb_tables() order by 1").fetchall()
        ]
        for table in tables:
            leave_out = "exclude (data_as_of)" if table == "profiles" else ""
            rows = sorted(map(repr, connection.execute(f"select * {leave_out} from {table}").fetchall()))
            yield table, hashlib.sha256("\n".join(rows).encode()).hexdigest()
