"""Score generated ads over four windows with the shipped models: `python -m benchmarks.scores`.

The tables before the scores (delivery, credit, entities) are made by `ad_days`. dbt compiles the models of the scores;
a process of its own then runs the compiled SQL in dbt's order, so that its seconds and memory are those of the SQL. A
served table that is a view is read to its end as well, because its publication does.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from graphlib import TopologicalSorter
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import duckdb
from rich.console import Console
from rich.table import Table

from api.served import LAYERS
from benchmarks import ad_days
from orchestration.dbt_manifest import run_dbt, target
from orchestration.limits import limits
from touchledger.settings import Settings
from touchledger.state import prepare

# name, relation, table or view, SQL
Model = tuple[str, str, str, str]

RESULTS = Path(__file__).parent / "results"
MODELS = ["--select", "path:models/intermediate/scores", "path:models/marts/top_performers"]
STAGES = {
    "what ads did": (
        "int_score_windows",
        "int_click_lags",
        "int_score_spans",
        "int_score_days",
        "int_score_delivery",
        "int_score_credits",
    ),
    "geo and placement": ("int_score_values", "int_score_majorities"),
    "cohorts": ("int_ad_traits", "int_score_words", "int_score_traits", "int_score_cohorts", "int_score_groups"),
    "evidence": ("int_score_order_values", "int_score_evidence", "int_score_roots"),
    "priors and spreads": ("int_score_priors", "int_score_spreads"),
    "percentiles": ("int_score_standings",),
    "scores": ("int_scores", "int_score_stages", "ad_scores", "ad_score_layers"),
}


@click.command()
@click.option("--ads", default=100_000, show_default=True, help="How many ads to generate, 2,000 to a profile.")
@click.option("--split-days", default=28, show_default=True, help="Days whose geo and placement are known.")
@click.option("--history", default=0, show_default=True, help="Weeks of the past to score as well.")
@click.option("--memory", default="4GB", show_default=True, help="DuckDB's memory limit.")
@click.option("--seed", default=7, show_default=True)
def main(ads: int, split_days: int, history: int, memory: str, seed: int) -> None:
    """Measure, print the table, and keep it under benchmarks/results."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder) / "home", warehouse_memory_limit=memory)
        result = measure(settings, ads=ads, split_days=split_days, history=history, seed=seed)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"scores-{ads}.json").write_text(json.dumps(result, indent=2) + "\n")
    _print(result)


def measure(settings: Settings, *, ads: int, split_days: int, history: int, seed: int) -> dict[str, Any]:
    """Sizes, seconds by stage, CPU seconds, peak memory, versions, and how busy the machine was."""
    prepare(settings)
    sizes = ad_days.write(settings.warehouse, ads=ads, split_days=split_days, seed=seed)
    _dbt(settings, "seed")
    _dbt(settings, "compile", *MODELS, "--vars", json.dumps({"score_history_weeks": history}))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        ran = pool.submit(run, settings, _models(settings)).result()
    return {
        "sizes": {**sizes, "scores": ran.rows["ad_scores"], "percentiles": _percentiles(settings)},
        "seed": seed,
        "weeks of history": history,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__},
        "load average": round(os.getloadavg()[0], 1),
        "seconds": _by_stage(ran.seconds),
        "CPU seconds": _by_stage(ran.cpu_seconds),
        "peak memory MB": ran.peak_mb,
    }


def _percentiles(settings: Settings) -> int:
    """How many layers of ads were compared, in all windows."""
    layers = " + ".join(f"count({layer}_percentile)" for layer in LAYERS)
    with duckdb.connect(str(settings.warehouse), read_only=True) as connection:
        found = connection.execute(f"select {layers} from marts.ad_score_layers").fetchone()
    return int(found[0]) if found else 0


def _by_stage(seconds: dict[str, float]) -> dict[str, float]:
    stages = {stage: round(sum(seconds[name] for name in names), 2) for stage, names in STAGES.items()}
    return {**stages, "all": round(sum(seconds.values()), 2)}


@dataclass(frozen=True)
class Ran:
    """What one run of the models cost: seconds, CPU seconds and rows by model."""

    seconds: dict[str, float]
    rows: dict[str, int]
    cpu_seconds: dict[str, float]
    peak_mb: int


def run(settings: Settings, models: list[Model]) -> Ran:
    """Make every model from its compiled SQL, in order."""
    seconds, cpu_seconds, rows = {}, {}, {}
    with duckdb.connect(str(settings.warehouse), config=limits(settings)) as connection:
        connection.execute("set enable_progress_bar = false")
        for name, relation, kind, sql in models:
            begun, cpu_begun = time.perf_counter(), time.process_time()
            created = connection.execute(f"create or replace {kind} {relation} as {sql}").fetchall()
            if kind == "view" and relation.startswith("marts."):
                # publication reads it once
                read = f"create temp table published as select * from {relation}"
                created = connection.execute(read).fetchall()
                connection.execute("drop table published")
            seconds[name] = time.perf_counter() - begun
            cpu_seconds[name] = time.process_time() - cpu_begun
            rows[name] = int(created[0][0]) if created else 0
    return Ran(seconds, rows, cpu_seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def _dbt(settings: Settings, *command: str) -> None:
    done = run_dbt(settings, list(command))
    if done.returncode != 0:
        raise click.ClickException(done.stdout[-2000:] + done.stderr[-2000:])


def _models(settings: Settings) -> list[Model]:
    """The compiled models of the scores, each after those it reads."""
    manifest = json.loads((target(settings) / "manifest.json").read_text())["nodes"]
    compiled = {key: node for key, node in manifest.items() if node.get("compiled_code")}
    order = TopologicalSorter(
        {key: [on for on in node["depends_on"]["nodes"] if on in compiled] for key, node in compiled.items()}
    )
    found = []
    for node in (compiled[key] for key in order.static_order()):
        kind = "view" if node["config"]["materialized"] == "view" else "table"
        found.append((node["name"], f"{node['schema']}.{node['name']}", kind, node["compiled_code"]))
    return found


def _print(result: dict[str, Any]) -> None:
    sizes = ", ".join(f"{count:,} {what}" for what, count in result["sizes"].items())
    table = Table("stage", "seconds", "CPU seconds", title=f"{sizes}; duckdb {result['machine']['duckdb']}")
    for stage, seconds in result["seconds"].items():
        table.add_row(stage, f"{seconds:.2f}", f"{result['CPU seconds'][stage]:.2f}")
    console = Console()
    console.print(table)
    console.print(f"peak memory {result['peak memory MB']:,} MB; load average {result['load average']}")


if __name__ == "__main__":
    main()
