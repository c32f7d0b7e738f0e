"""One contestant in a process of its own: `python -m benchmarks.contestant given.json` prints its cost as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import peer_sql
from benchmarks.meter import Cost, metered

OURS = "touchledger, with exact cents"
# what the shipped models credited, by model, as peers tell it: sums of weight times destination key
OUR_MOMENTS = """
select
    sum(case when flags & 1 <> 0 then destination_key end), sum(case when flags & 2 <> 0 then destination_key end),
    sum(case when flags & 4 <> 0 then destination_key end),
    sum(cast(k as double) / n * destination_key), sum(cast(w_dec as double) / s_dec * destination_key)
from intermediate.int_credits inner join intermediate.int_paths using (conversion_key)
"""
OUR_CENTS = "select model, cast(sum(cents) as bigint) from intermediate.int_credit_cents group by model order by model"


def main() -> None:
    """Do what the file says, and print what it cost."""
    given = json.loads(Path(sys.argv[1]).read_text())
    cost = ours(given) if given["way"] == OURS else theirs(given)
    sys.stdout.write(cost.line() + "\n")


def ours(given: dict[str, Any]) -> Cost:
    """The compiled models in order, each written to the warehouse as a build writes it."""
    with _connected(Path(given["warehouse"]), given) as connection:
        seconds: dict[str, float] = {}

        def work() -> None:
            for model in given["models"]:
                begun = time.process_time()
                _make(connection, model)
                seconds[model["name"]] = round(time.process_time() - begun, 3)

        cost = metered(work)
        row = connection.execute(OUR_MOMENTS).fetchall()[0]
        told = {
            "moments": dict(zip(peer_sql.MODELS, map(float, row), strict=True)),
            "cents": dict(connection.execute(OUR_CENTS).fetchall()),
            "CPU seconds by model": seconds,
        }
        return Cost(cost.wall, cost.cpu, cost.peak_mb, told)


def _make(connection: duckdb.DuckDBPyConnection, model: dict[str, Any]) -> None:
    relation, sql, packed = model["relation"], model["sql"], model["packed"]
    if not packed:
        connection.execute(f"create or replace {'view' if model['is_view'] else 'table'} {relation} as {sql}")
        return
    columns = [
        f"{column} {kind} using compression {packed[column]}" if column in packed else f"{column} {kind}"
        for column, kind, *_ in connection.execute(f"describe ({sql})").fetchall()
    ]
    connection.execute(f"create or replace table {relation} ({', '.join(columns)})")
    connection.execute(f"insert into {relation} {sql}")


def theirs(given: dict[str, Any]) -> Cost:
    """One way of `peer_sql`, written to a file of its own."""
    scratch = Path(given["scratch"])
    attached = {"w": given["warehouse"], "u": given.get("texts")}
    with _connected(scratch, given) as connection:
        for name, path in attached.items():
            if path:
                connection.execute(f"attach '{path}' as {name} (read_only)")
        cost = metered(lambda: peer_sql.WAYS[given["way"]](connection))
        told = {"moments": peer_sql.moments(connection, given["way"])}
        _drop(connection)
    return Cost(cost.wall, cost.cpu, cost.peak_mb, told)


def _drop(connection: duckdb.DuckDBPyConnection) -> None:
    made: Sequence[tuple[str]] = connection.execute(
        "select table_name from duckdb_tables() where database_name = current_database() and table_name <> 'arrived'"
    ).fetchall()
    for (name,) in made:
        connection.execute(f"drop table {name}")


def _connected(path: Path, given: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    config = {
        "threads": given["threads"],
        "memory_limit": given["memory"],
        "storage_compatibility_version": "v1.5.0",
        "temp_directory": str(Path(given["scratch"]).parent / "spill"),
    }
    connection = duckdb.connect(str(path), config=config)
    connection.execute("set enable_progress_bar = false")
    return connection


if __name__ == "__main__":
    main()
