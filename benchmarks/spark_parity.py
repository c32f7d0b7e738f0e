"""The same lake built on DuckDB and on a Spark cluster of two workers: every mart, row by row.

No tolerance: a mart is equal when EXCEPT ALL is empty both ways, doubles to the last bit.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import duckdb
from rich.console import Console
from rich.table import Table

from benchmarks.generated import BEGIN, DAYS, World
from benchmarks.landed import land
from benchmarks.spark_cluster import HOST, Cluster, running
from data_contracts.contract import modelled
from orchestration import spark, spark_needs, spark_run
from orchestration.app_sets import land_app_sets
from orchestration.dbt_manifest import run_dbt
from orchestration.lake import Lake
from orchestration.limits import threads
from tests.laws.histories import History
from touchledger.accounts import create_profile
from touchledger.settings import REPOSITORY, Settings
from touchledger.state import prepare

WORLDS = ("demo", "history", "journeys")
HISTORY_SEED, PROFILES, LATER_DAYS = 51, 12, 3
RESULT = Path(__file__).parent / "results" / "spark-parity.json"
MODELS = ["build", "--full-refresh", "--exclude-resource-type", "unit_test", "--quiet"]
WORKERS, EXECUTOR_MEMORY, WORKER_MEMORY = 2, "2g", "3g"
SANDBOX_PORT = 28_765
LOOPBACK = {"spark.driver.host": HOST, "spark.driver.bindAddress": HOST}


@dataclass(frozen=True)
class Mart:
    """One mart on both engines; `only_*` are rows that the other engine lacks, doubles counted as they are told."""

    name: str
    duckdb_rows: int
    spark_rows: int
    only_duckdb: int
    only_spark: int

    @property
    def equal(self) -> bool:
        return not (self.only_duckdb or self.only_spark)


@click.command()
@click.option("--touches", default=1_000_000, show_default=True, help="Touches of the generated world.")
@click.option("--seed", default=7, show_default=True)
@click.option("--world", type=click.Choice([*WORLDS, "all"]), default="all", show_default=True)
@click.option("--tests/--no-tests", default=True, show_default=True, help="Run dbt's data tests on both engines too.")
def main(touches: int, seed: int, world: str, tests: bool) -> None:
    """Build the worlds on both engines, print the marts, keep the result, and exit with 1 at any difference."""
    command = MODELS if tests else [*MODELS[:-1], "test", "--quiet"]
    worlds: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        homes = {name: _settings(Path(folder) / name) for name in WORLDS if world in (name, "all")}
        anyone = next(iter(homes.values()))
        spark_needs.require(anyone)
        environment = REPOSITORY / anyone.spark_environment
        with running(environment, Path(folder) / "cluster", workers=WORKERS, memory=WORKER_MEMORY) as cluster:
            make = {"demo": _demo, "history": _history, "journeys": partial(_journeys, touches=touches, seed=seed)}
            for name, settings in homes.items():
                make[name](settings)
                title = f"{touches:,} touches" if name == "journeys" else name
                worlds[title] = _compared(cluster, settings, command)
    result = {"taken_at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": _machine(), "worlds": worlds}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    bad = [name for name, found in worlds.items() if found["differing marts"] or found["idle workers"]]
    for name, found in worlds.items():
        _print(name, found)
    sys.exit(1 if bad else 0)


def _settings(home: Path) -> Settings:
    return Settings(
        home=home,
        spark_master=Cluster.address,
        spark_partitions=4,
        spark_executor_memory=EXECUTOR_MEMORY,
        spark_conf=LOOPBACK,
    )


def _demo(settings: Settings) -> None:
    """The demo's lake and warehouse, as `touchledger up --once` makes them."""
    done = subprocess.run(  # noqa: S603 - our own executable, no shell
        [str(Path(sys.executable).parent / "touchledger"), "up", "--once", "--quiet"],
        env={**os.environ, "TOUCHLEDGER_HOME": str(settings.home), "TOUCHLEDGER_SANDBOX_PORT": str(SANDBOX_PORT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise click.ClickException(done.stdout[-2000:] + done.stderr[-2000:])


def _history(settings: Settings) -> None:
    """Records of every set as the laws draw them: odd texts, ties, records that change or are withdrawn."""
    prepare(settings)
    history, lake = History(HISTORY_SEED, PROFILES), Lake(settings.lake)
    history.land(lake)
    for _ in range(LATER_DAYS):
        history.another_day()
        history.land(lake)


def _journeys(settings: Settings, *, touches: int, seed: int) -> None:
    prepare(settings)
    profile = create_profile(settings, name="Parity", timezone="America/New_York", currency="USD")
    lake = Lake(settings.lake)
    land_app_sets(settings.operational_url, lake)
    land(lake.root, [profile], World(touches=touches, seed=seed))
    # what is dated after its landing would be kept out
    landed_at = datetime.fromtimestamp(BEGIN + DAYS * 86_400, UTC)
    batch = {"profile_id": profile, "source": "bench", "batch": "told", "now": landed_at}
    lake.land(dataset="page_events", records=_pages(profile), **batch)
    lake.land(dataset="conversions", records=_answers(), **batch)


def _pages(profile: str) -> Iterator[dict[str, Any]]:
    """Browsers on pages over thirty days, of whom the journeys know nothing."""
    for number in range(3_000):
        at = datetime.fromtimestamp(BEGIN + number * 863, UTC).isoformat()
        event = {"event_id": f"e{number}", "profile_id": profile, "event_name": "page_view", "occurred_at": at}
        visit = {"anonymous_id": f"b{number % 700}", "session_id": f"s{number // 2}", "opens_visit": number % 3 == 0}
        yield {**event, **visit, "received_at": at, "channel": "email" if number % 3 == 0 else None, "device": "mobile"}


def _answers() -> Iterator[dict[str, Any]]:
    """Leads of the first people, each with an answer to how they heard of the shop."""
    for number in range(500):
        at = datetime.fromtimestamp(BEGIN + number * 3_607, UTC).isoformat()
        lead = {"conversion_key": f"answer{number}", "occurred_at": at, "conversion_type": "lead_created"}
        yield {**lead, "person_key": f"p{number}", "answer_key": f"a{number % 7}", "answer_text": "told by a friend"}


def _compared(cluster: Cluster, settings: Settings, command: list[str]) -> dict[str, Any]:
    seconds = {"duckdb": _on_duckdb(settings, command)}
    cluster.most_cores_used.clear()
    seconds["spark"] = _on_spark(settings, command)
    marts = _marts(settings)
    spark_run.clear(settings)
    newest = max((app for apps in cluster.executors().values() for app in apps), default="")
    workers = [
        {
            "worker": worker,
            "most cores in use": cluster.most_cores_used.get(worker, 0),
            "executors of the run": apps.count(newest),
        }
        for worker, apps in cluster.executors().items()
    ]
    tasks = json.loads(spark.executors_file(settings).read_text())
    executors = [one for one in tasks if one["id"] != "driver"]
    page = cluster.page()
    return {
        "seconds": {engine: round(spent, 1) for engine, spent in seconds.items()},
        "differing marts": [one.name for one in marts if not one.equal],
        "idle workers": sum(1 for one in executors if one["tasks"] > 0) < WORKERS
        or any(not one["executors of the run"] for one in workers),
        "workers": workers,
        "executors": executors,
        "master's page": {
            "aliveworkers": page["aliveworkers"],
            "workers": [{key: one[key] for key in ("id", "cores", "memory", "state")} for one in page["workers"]],
            "completedapps": [
                {key: one[key] for key in ("id", "name", "cores", "duration", "state")}
                for one in page["completedapps"]
                if one["id"] == newest
            ],
        },
        "marts": [asdict(one) for one in marts],
    }


def _on_duckdb(settings: Settings, command: list[str]) -> float:
    begun = time.perf_counter()
    done = run_dbt(settings, command)
    if done.returncode != 0:
        raise click.ClickException(f"DuckDB: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - begun


def _on_spark(settings: Settings, command: list[str]) -> float:
    begun = time.perf_counter()
    code = spark.run_models(settings, command)
    if code != 0:
        raise click.ClickException(f"Spark: dbt ended with {code}; {settings.home / 'logs' / 'spark.log'}")
    return time.perf_counter() - begun


def _marts(settings: Settings) -> list[Mart]:
    with duckdb.connect(config={"threads": threads(settings)}) as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute(f"attach '{settings.warehouse}' as warehouse (read_only)")
        return [_mart(connection, name, spark.marts_folder(settings)) for name in sorted(modelled())]


def _mart(connection: duckdb.DuckDBPyConnection, name: str, folder: Path) -> Mart:
    columns = ", ".join(f'"{column.name}"' for column in modelled()[name].columns)
    sides = (
        f"select {columns} from warehouse.marts.{name}",
        f"select {columns} from read_parquet('{folder}/marts.{name}/*.parquet')",
    )
    ours, theirs = sides

    def count(sql: str) -> int:
        row = connection.execute(f"select count(*) from ({sql})").fetchone()
        return int(row[0]) if row else 0

    return Mart(
        name,
        count(ours),
        count(theirs),
        count(f"{ours} except all {theirs}"),
        count(f"{theirs} except all {ours}"),
    )


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "workers": WORKERS,
        "cores of each worker": 1,
        "memory of each executor": EXECUTOR_MEMORY,
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "peak_child_memory_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }


def _print(name: str, found: dict[str, Any]) -> None:
    spent = found["seconds"]
    title = f"{name}: DuckDB {spent['duckdb']} s, Spark {spent['spark']} s"
    table = Table("mart", "rows", "rows on Spark", "only DuckDB", "only Spark", title=title)
    for mart in found["marts"]:
        figures = [mart[key] for key in ("duckdb_rows", "spark_rows", "only_duckdb", "only_spark")]
        table.add_row(mart["name"], *(f"{figure:,}" for figure in figures))
    console = Console()
    console.print(table)
    for worker in found["workers"]:
        console.print(f"{worker['worker']}: {worker['executors of the run']} executor(s)")
    for one in found["executors"]:
        console.print(f"executor {one['id']}: {one['tasks']:,} tasks, {one['task_ms'] / 1000:.0f} s in tasks")


if __name__ == "__main__":
    main()
