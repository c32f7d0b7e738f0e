"""A new day on top of a history, beside the whole build of the same lake: `python -m benchmarks.increment`.

The newest of 300 days is held back, with one touch, outcome and refund in 300 of the 30 days before it. What is held
back is landed on the built history and built twice with `touchledger build`, checks and publication included: as the
increment that follows, and whole in a copy of the state. Every table of the two warehouses is compared, row by row both
ways. Seconds of models are dbt's own, which runs two at a time; those of models that keep rows are added up apart.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import duckdb
from rich.console import Console
from rich.table import Table

from benchmarks import build
from benchmarks.generated import BEGIN, DAYS, Numbers, World
from benchmarks.landed import Part, land
from benchmarks.machine import keep, machine
from benchmarks.sizes import Sizes, written
from orchestration.app_sets import land_app_sets
from orchestration.dbt_manifest import ensure_manifest, target
from orchestration.lake import Lake
from touchledger.accounts import create_profile
from touchledger.settings import Settings
from touchledger.state import prepare

DAY = 86_400
NEWEST = BEGIN + (DAYS - 1) * DAY
LATE_DAYS, LATE_ONE_IN = 30, 300
# strategies of dbt_project/macros/increment_strategies.sql whose models keep rows
KEEPING = {"kept", "added"}
FIGURES = {
    "keeping": "models that keep rows, s",
    "models": "all models, s",
    "wall": "the command, wall s",
    "cpu": "the command, CPU s",
}


@click.command()
@click.option("--sizes", type=Sizes(), default="1M", show_default=True, help="Touches, such as 1M,10M.")
@click.option("--kind", default="skewed", show_default=True)
@click.option("--seed", default=7, show_default=True)
@click.option("--memory", default="50%", show_default=True, help="DuckDB's limit in the models.")
@click.option("--doubled", is_flag=True, help="On twice the history instead of beside the whole build.")
def main(sizes: list[int], kind: str, seed: int, memory: str, doubled: bool) -> None:
    """Measure each size, print the table, and keep it under benchmarks/results."""
    for touches in sizes:
        with tempfile.TemporaryDirectory() as folder:
            world = World(touches, seed=seed, kind=kind)
            found = (measure_doubled if doubled else measure)(Path(folder), world, memory)
        keep(f"{'doubled' if doubled else 'increment'}-{kind}-{touches:09}", found)
        _print(found)
        if found.get("rows_unlike"):
            raise click.ClickException(f"tables differ: {found['rows_unlike']}")


def measure(folder: Path, world: World, memory: str) -> dict[str, Any]:
    """Seconds of the increment and of the whole build, by model, and the rows in which their tables differ."""
    one = Settings(home=folder / "increment", warehouse_memory_limit=memory)
    other = Settings(home=folder / "whole", warehouse_memory_limit=memory)
    _land(one, world, NewDay())
    shutil.copytree(one.home, other.home)
    runs = {"increment": built(one), "whole": built(other, "--full-refresh")}
    return {
        "world": asdict(world),
        **_changed(one),
        "runs": runs,
        "rows_unlike": unlike(one.warehouse, other.warehouse),
        "memory_limit": memory,
        "machine": machine("dbt-core", "dbt-duckdb"),
    }


def measure_doubled(folder: Path, world: World, memory: str) -> dict[str, Any]:
    """Seconds of the same new day on a history and on one of twice the touches."""
    runs, changed = {}, {}
    for name, times in (("once", 1), ("twice", 2)):
        settings = Settings(home=folder / name, warehouse_memory_limit=memory)
        _land(settings, replace(world, touches=times * world.touches), NewDay(times))
        runs[name] = built(settings)
        changed[name] = _changed(settings)
        shutil.rmtree(settings.home)
    return {
        "world": asdict(world),
        **changed["once"],
        "changed": changed,
        "runs": runs,
        "memory_limit": memory,
        "machine": machine("dbt-core", "dbt-duckdb"),
    }


def _land(settings: Settings, world: World, day: NewDay) -> None:
    """The history, built, and the records of a new day on top of it."""
    prepare(settings)
    profiles = [create_profile(settings, name="Bench", timezone="UTC", currency="USD")]
    lake = Lake(settings.lake)
    lake.prepare()
    land_app_sets(settings.operational_url, lake)
    land(lake.root, profiles, world, part=Part(day.is_old))
    built(settings)
    land(lake.root, profiles, world, part=Part(day.is_new, "day", 1_000_000, with_accounts=False))


@dataclass(frozen=True)
class NewDay:
    """What is held back of a world: one record in so many of the newest day, and few of the days before it."""

    one_in: int = 1

    def is_new(self, ts: Numbers, number: Numbers) -> Numbers:
        """What the newest day brings."""
        is_late = (ts < NEWEST) & (ts >= NEWEST - LATE_DAYS * DAY) & (number % (LATE_ONE_IN * self.one_in) == 0)
        return is_late | ((ts >= NEWEST) & (ts < NEWEST + DAY) & (number % self.one_in == 0))

    def is_old(self, ts: Numbers, number: Numbers) -> Numbers:
        """What the history holds."""
        return (ts < NEWEST + DAY) & ~self.is_new(ts, number)


def _changed(settings: Settings) -> dict[str, int]:
    return {
        "new_touches": _count(settings, "changes.touches"),
        "changed_people": _count(settings, "intermediate.int_changed_people"),
        "changed_conversions": _count(settings, "intermediate.int_changed_conversions"),
    }


def built(settings: Settings, *options: str) -> dict[str, Any]:
    """Run `touchledger build` to its end: what it cost by step, and seconds of its models."""
    # what was landed or copied just now would still be written while it runs
    os.sync()
    spent = build.built(settings, *options)
    found = build.spent_by_node(target(settings) / "dbt.log")
    models = {node["name"]: node["seconds"] for node in found if node["kind"] == "model"}
    nodes = json.loads(ensure_manifest(settings).read_text())["nodes"].values()
    keeping = {node["name"] for node in nodes if node["config"].get("incremental_strategy") in KEEPING}
    return {
        **spent,
        "models": round(sum(models.values()), 1),
        "keeping": round(sum(seconds for name, seconds in models.items() if name in keeping), 2),
        "by_model": dict(list(models.items())[:60]),
    }


def _count(settings: Settings, table: str) -> int:
    with duckdb.connect(str(settings.warehouse), read_only=True) as connection:
        row = connection.execute(f"select count(*) from {table}").fetchone()
    return int(row[0]) if row else 0


def unlike(one: Path, other: Path) -> dict[str, int]:
    """Rows of one warehouse that the other lacks, by table; only where there are any."""
    found = {}
    with duckdb.connect() as connection:
        connection.execute(f"attach '{one}' as one (read_only)")
        connection.execute(f"attach '{other}' as other (read_only)")
        tables = connection.execute(
            "select schema_name || '.' || table_name, string_agg(column_name, ', ')"
            " from duckdb_columns() where database_name = 'one' and schema_name in ('staging', 'intermediate', 'marts')"
            " and table_name in (select table_name from duckdb_tables()) and table_name not like 'int_changed_%'"
            " group by all order by all"
        ).fetchall()
        for table, columns in tables:
            for left, right in (("one", "other"), ("other", "one")):
                row = connection.execute(
                    f"select count(*) from (select {columns} from {left}.{table}"
                    f" except all select {columns} from {right}.{table})"
                ).fetchone()
                if row and row[0]:
                    found[table] = found.get(table, 0) + int(row[0])
    return found


def _print(found: dict[str, Any]) -> None:
    touches, (one, other) = written(found["world"]["touches"]), found["runs"]
    table = Table(title=f"A new day ({found['new_touches']:,} touches) on {touches}, {found['world']['kind']}")
    for name in ("", one, other, "times"):
        table.add_column(name, justify="right" if name else "left")
    for name, title in FIGURES.items():
        now, then = (found["runs"][run][name] for run in (one, other))
        table.add_row(title, f"{now:.1f}", f"{then:.1f}", f"{then / now:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
