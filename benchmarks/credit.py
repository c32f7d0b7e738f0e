"""Path and credit of N touches under five models with exact cents, beside peers: `python -m benchmarks.credit`.

The shipped models' compiled SQL runs over a warehouse that was staged once. Every contestant is a process of its own
with the same threads, in rounds that interleave them; the figures are medians. Peers from PyPI run at small sizes only,
in the environment of `requirements-bench.lock` (`make bench` makes it); without it they are left out, and told.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click
import duckdb

from benchmarks import peer_sql
from benchmarks.contestant import OURS
from benchmarks.credit_table import show
from benchmarks.generated import LONGEST, World
from benchmarks.machine import keep, machine
from benchmarks.meter import Cost, interleaved, run
from benchmarks.sizes import Sizes
from benchmarks.staged import Staged, stage
from touchledger.settings import REPOSITORY, Settings

PEERS_PYTHON = REPOSITORY / ".venv-bench" / "bin" / "python"
FOREIGN = ("polars", "pandas", "ChannelAttribution", "marketing-attribution-models")
TEXT_WAY = "naive windows on UUID texts"
BOUNDS = ("one scan of its columns", "one sort of its columns")
# above these many touches a contestant is left out: text keys and data frames need tens of gigabytes, and the slower
# SQL forms half an hour
LIMITS = dict.fromkeys((*FOREIGN, TEXT_WAY), 1_000_000) | dict.fromkeys((OURS, *BOUNDS), 10**12)
SQL_LIMIT = 50_000_000
# ties of one second are broken by none of these as by the product; everything else must agree to this share
TOLERANCE = 1e-6


@click.command()
@click.option("--sizes", type=Sizes(), default="1M", show_default=True, help="Touches, such as 1M,10M,50M.")
@click.option("--kinds", default="skewed,light", show_default=True, help="Skewed paths, or at most 30 touches each.")
@click.option("--profiles", default=1, show_default=True, help="How many profiles share the touches.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--memory", default="1500MB", show_default=True, help="DuckDB's limit for the product.")
@click.option("--peer-memory", default="16GB", show_default=True, help="DuckDB's limit for other ways in SQL.")
@click.option("--without", default="", help="Contestants to leave out, with commas.")
@click.option("--seed", default=7, show_default=True)
def main(sizes: list[int], kinds: str, profiles: int, seed: int, without: str, **limits: Any) -> None:
    """Measure, print the tables, and keep them under benchmarks/results."""
    if not PEERS_PYTHON.exists():
        click.echo("the peers from PyPI are left out: .venv-bench is missing (make bench makes it)", err=True)
    for kind in kinds.split(","):
        if kind not in LONGEST:
            raise click.BadParameter(f"{kind!r} is not one of {', '.join(LONGEST)}", param_hint="--kinds")
        for touches in sizes:
            world = World(touches, seed=seed, kind=kind, profiles=profiles)
            with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
                result = measure(Path(folder), world, left_out=set(without.split(",")), **limits)
            keep(f"credit-{kind}-{touches:09}", result)
            show(result)


def measure(
    folder: Path,
    world: World,
    *,
    rounds: int,
    threads: int,
    memory: str,
    peer_memory: str,
    left_out: set[str],
) -> dict[str, Any]:
    """Sizes of the world, the machine, and each contestant's medians and what it credited."""
    staged = stage(Settings(home=folder / "home", warehouse_memory_limit=peer_memory), world)
    ways = [way for way in _ways(world.touches) if way not in left_out]
    counts = _counts(staged.warehouse)
    with _prepared(folder, staged, ways) as given:
        given |= {"threads": threads}
        contestants: dict[str, Callable[[], Cost]] = {
            way: partial(_run, way, {**given, "memory": memory if way == OURS else peer_memory}) for way in ways
        }
        costs = interleaved(contestants, rounds)
    disagreeing = disagreements({way: cost.told.get("moments", {}) for way, cost in costs.items()})
    return {
        "world": asdict(world),
        **counts,
        "rounds": rounds,
        "threads": threads,
        "memory_limit": memory,
        "machine": machine(),
        "models": [model.name for model in staged.models],
        "contestants": {way: asdict(cost) for way, cost in costs.items()},
        "disagreeing": disagreeing,
    }


def _ways(touches: int) -> Iterator[str]:
    for way in (OURS, *peer_sql.WAYS, *FOREIGN):
        if touches <= LIMITS.get(way, SQL_LIMIT) and (way not in FOREIGN or PEERS_PYTHON.exists()):
            yield way


def _counts(warehouse: Path) -> dict[str, int]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return {
            name: int(connection.execute(f"select count(*) from intermediate.{table}").fetchall()[0][0])
            for name, table in (("touches", "int_touches"), ("conversions", "int_conversions"))
        }


@contextmanager
def _prepared(folder: Path, staged: Staged, ways: list[str]) -> Iterator[dict[str, Any]]:
    """The inputs of the contestants: keys as texts, touches in the order of time, Parquet files for data frames."""
    warehouse, scratch, texts = staged.warehouse, folder / "scratch.duckdb", folder / "texts.duckdb"
    files = {"touches": folder / "touches.parquet", "conversions": folder / "conversions.parquet"}
    made: dict[Path, list[str]] = {scratch: [peer_sql.ARRIVED], texts: [], folder / "files.duckdb": []}
    if TEXT_WAY in ways:
        made[texts] = [f"create table {name} as {sql}" for name, sql in peer_sql.TEXTS.items()]
    if set(FOREIGN) & set(ways):
        made[folder / "files.duckdb"] = [
            f"copy (select {peer_sql.FRAME_COLUMNS} from w.intermediate.int_touches) to '{files['touches']}'",
            f"copy ({peer_sql.FRAME_CONVERSIONS}) to '{files['conversions']}'",
        ]
    for path, statements in made.items():
        with duckdb.connect(str(path), config={"storage_compatibility_version": "v1.5.0"}) as connection:
            connection.execute("set enable_progress_bar = false")
            connection.execute(f"attach '{warehouse}' as w (read_only)")
            for statement in statements:
                connection.execute(statement)
    yield {
        "warehouse": str(warehouse),
        "scratch": str(scratch),
        "texts": str(texts) if made[texts] else None,
        "models": [asdict(model) for model in staged.models],
        **{name: str(path) for name, path in files.items()},
    }


def _run(way: str, given: dict[str, Any]) -> Cost:
    foreign = way in FOREIGN
    module = "benchmarks.foreign" if foreign else "benchmarks.contestant"
    wanted = {"touches", "conversions"} if foreign else given.keys()
    argument = json.dumps({"way": way, **{name: given[name] for name in wanted}})
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "POLARS_MAX_THREADS": str(given["threads"])}
    file = Path(given["scratch"]).with_name("given.json")
    file.write_text(argument)
    return run([str(PEERS_PYTHON) if foreign else sys.executable, "-m", module, str(file)], environment)


def disagreements(moments: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    """Models under which a contestant credited something else than the product did."""
    ours = moments.get(OURS, {})
    found = {
        way: [
            model for model, moment in told.items() if abs(moment - ours[model]) > TOLERANCE * max(abs(ours[model]), 1)
        ]
        for way, told in moments.items()
        if ours
    }
    return {way: models for way, models in found.items() if models}


if __name__ == "__main__":
    main()
