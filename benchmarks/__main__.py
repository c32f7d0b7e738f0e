"""Build generated journeys with the shipped models, time each stage, and write the table."""

from __future__ import annotations

import json
import os
import platform
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import duckdb
from rich.console import Console
from rich.table import Table

from benchmarks import journeys, peers
from orchestration.app_sets import land_app_sets
from orchestration.dbt_manifest import run_dbt, target
from orchestration.lake import Lake
from touchledger.accounts import create_profile
from touchledger.settings import Settings
from touchledger.state import prepare

RESULTS = Path(__file__).parent / "results"
STAGES = {
    "people": ("int_identity", "int_person"),
    "touches": ("stg_app__touches", "int_arrivals", "int_visits", "int_sightings", "int_touches", "int_destinations"),
    "path and credit": ("int_paths", "int_credits", "int_credit_cents", "int_outcome_gaps"),
    "credit marts": ("credit_daily", "unattributed_daily", "outcomes_daily"),
}


@click.command()
@click.option("--touches", default=1_000_000, show_default=True, help="How many touches to generate.")
@click.option("--seed", default=7, show_default=True)
def main(touches: int, seed: int) -> None:
    """Measure, print the table, and keep it under benchmarks/results."""
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Settings(home=Path(folder) / "home"), touches=touches, seed=seed)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"credit-{touches}.json").write_text(json.dumps(result, indent=2) + "\n")
    _print(result)


def measure(settings: Settings, *, touches: int, seed: int) -> dict[str, Any]:
    """Sizes, versions, wall seconds by stage, and ratios to peers of the same run."""

    prepare(settings)
    profile = create_profile(settings, name="Bench", timezone="UTC", currency="USD")
    lake = Lake(settings.lake)
    land_app_sets(settings.operational_url, lake)
    journeys.write(lake, profile, touches=touches, seed=seed)
    stages, whole = _built(settings)
    warehouse, threads = settings.warehouse, settings.warehouse_threads
    naive = peers.seconds_of(warehouse, peers.NAIVE_WINDOWS, threads=threads)
    scan = peers.seconds_of(warehouse, peers.SCAN, threads=threads)
    ours = stages["path and credit"]
    return {
        "touches": peers.count_of(warehouse, "select count(*) from intermediate.int_touches"),
        "conversions": peers.count_of(warehouse, "select count(*) from intermediate.int_conversions"),
        "pairs": peers.count_of(warehouse, peers.PAIR_COUNT),
        "seed": seed,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__},
        "seconds": {**stages, "whole dbt run": whole, "naive windows, no cents": naive, "scan of five columns": scan},
        "path and credit over naive windows": round(ours / naive, 2),
        "peak_child_memory_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }


def _built(settings: Settings) -> tuple[dict[str, float], float]:
    begun = time.perf_counter()
    done = run_dbt(settings, ["build", "--full-refresh", "--exclude-resource-type", "test", "unit_test"])
    whole = time.perf_counter() - begun
    if done.returncode != 0:
        raise click.ClickException(done.stdout[-2000:] + done.stderr[-2000:])
    results = json.loads((target(settings) / "run_results.json").read_text())["results"]
    seconds = {row["unique_id"].rsplit(".", 1)[-1]: float(row["execution_time"]) for row in results}
    stages = {
        stage: sum(spent for name, spent in seconds.items() if name.startswith(prefixes))
        for stage, prefixes in STAGES.items()
    }
    return stages, whole


def _print(result: dict[str, Any]) -> None:
    sizes = f"{result['touches']:,} touches, {result['conversions']:,} conversions, {result['pairs']:,} pairs"
    table = Table("stage", "seconds", title=f"{sizes}; duckdb {result['machine']['duckdb']}")
    for stage, seconds in result["seconds"].items():
        table.add_row(stage, f"{seconds:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"path and credit with exact cents over naive windows: {result['path and credit over naive windows']}"
    )
    console.print(f"peak memory of the models: {result['peak_child_memory_mb']:,} MB")


if __name__ == "__main__":
    main()
