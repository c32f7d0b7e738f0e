"""The whole `touchledger build`, from the lake to a published snapshot, checks included: `python -m benchmarks.build`.

The command runs as a user runs it. Its processes (dbt, checks, publication) are watched from outside: memory is the
most that all of them held together, CPU is theirs added up. What dbt says of each model and check is kept as the
profile of the build, largest entries first.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.generated import World
from benchmarks.landed import land
from benchmarks.machine import RESULTS, keep, machine
from benchmarks.sizes import Sizes, written
from orchestration.app_sets import land_app_sets
from orchestration.dbt_manifest import target
from orchestration.lake import Lake
from touchledger.accounts import create_profile
from touchledger.settings import Settings
from touchledger.state import prepare

EVERY_SECONDS = 0.25
# dbt's events that end a model, a check or a seed
RESULTS_OF = {"LogModelResult", "LogTestResult", "LogSeedResult"}
PAGE = os.sysconf("SC_PAGE_SIZE")


@click.command()
@click.option("--sizes", type=Sizes(), default="1M", show_default=True, help="Touches, such as 1M,10M.")
@click.option("--kind", default="skewed", show_default=True)
@click.option("--profiles", default=1, show_default=True)
@click.option("--memory", default="50%", show_default=True, help="DuckDB's limit in the models.")
@click.option("--seed", default=7, show_default=True)
def main(sizes: list[int], kind: str, profiles: int, memory: str, seed: int) -> None:
    """Build each size, print the tables, and keep them under benchmarks/results."""
    for touches in sizes:
        with tempfile.TemporaryDirectory() as folder:
            world = World(touches, seed=seed, kind=kind, profiles=profiles)
            result = measure(Settings(home=Path(folder) / "home", warehouse_memory_limit=memory), world)
        name = f"build-{kind}-{touches:09}"
        keep(name, result)
        (RESULTS / f"{name}.txt").write_text(profile_text(result))
        _print(result)


def measure(settings: Settings, world: World) -> dict[str, Any]:
    """Wall and CPU seconds and peak memory of the command, seconds by step and by group of models, and the profile."""
    prepare(settings)
    profiles = [
        create_profile(settings, name=f"Bench {n}", timezone="UTC", currency="USD") for n in range(world.profiles)
    ]
    lake = Lake(settings.lake)
    lake.prepare()
    land_app_sets(settings.operational_url, lake)
    begun = time.perf_counter()
    land(lake.root, profiles, world)
    generated = time.perf_counter() - begun
    # what was landed just now would still be written while it runs
    os.sync()
    watched = built(settings)
    nodes = spent_by_node(target(settings) / "dbt.log")
    return {
        "world": asdict(world),
        "generation_seconds": round(generated, 1),
        **watched,
        "groups": groups(nodes),
        "profile": nodes,
        "bytes": {
            "lake": sum(path.stat().st_size for path in lake.root.rglob("*.parquet")),
            "warehouse": settings.warehouse.stat().st_size,
            "snapshot": max((path.stat().st_size for path in settings.published.rglob("*.duckdb")), default=0),
        },
        "memory_limit": settings.warehouse_memory_limit,
        "machine": machine("dbt-core", "dbt-duckdb", "dagster"),
    }


def built(settings: Settings, *options: str) -> dict[str, Any]:
    """Run `touchledger build` to its end; what it cost and its seconds by step."""
    environment = {
        **os.environ,
        "TOUCHLEDGER_HOME": str(settings.home),
        "TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT": settings.warehouse_memory_limit,
        "DBT_LOG_FORMAT_FILE": "json",
    }
    # a log that goes on is cut at ten megabytes, in the middle of a run
    (target(settings) / "dbt.log").unlink(missing_ok=True)
    command = [str(Path(sys.executable).parent / "touchledger"), "build", "--json", *options]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(  # noqa: S603 - our own command
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        watcher = Watcher(process.pid)
        watcher.start()
        printed, said = process.communicate()
        watcher.ended.set()
        watcher.join()
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        raise click.ClickException((printed + said)[-3000:])
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    steps: dict[str, float] = json.loads(printed)["seconds"]
    return {
        "wall": round(wall, 1),
        "cpu": round(cpu, 1),
        "peak_mb": watcher.most // 2**20,
        "steps": dict(sorted(steps.items(), key=lambda step: -step[1])[:12]),
    }


class Watcher(threading.Thread):
    """Adds up the memory of a process and all below it, again and again; `most` is the greatest sum in bytes."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most, self.ended = pid, 0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(EVERY_SECONDS):
            self.most = max(self.most, sum(resident(pid) for pid in below(self.pid)))


def below(pid: int) -> list[int]:
    """A process and those it started, and those they started."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def resident(pid: int) -> int:
    """Bytes of memory a process holds; 0 when it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def spent_by_node(log: Path) -> list[dict[str, Any]]:
    """Seconds of each model, check and seed of the newest run in dbt's log, largest first.

    The log, because the product's build has dbt write no run results.
    """
    found: dict[str, dict[str, Any]] = {}
    run = None
    with log.open() as lines:
        for line in lines:
            if '"execution_time"' not in line or "node_info" not in line or not line.startswith("{"):
                continue
            entry = json.loads(line)
            if entry["info"]["name"] not in RESULTS_OF:
                continue
            if entry["info"]["invocation_id"] != run:
                run, found = entry["info"]["invocation_id"], {}
            node = entry["data"]["node_info"]
            found[node["unique_id"]] = {
                "name": node["node_name"],
                "kind": node["resource_type"],
                "folder": str(Path(node["node_path"]).parent),
                "seconds": round(entry["data"]["execution_time"], 2),
            }
    return sorted(found.values(), key=lambda node: -float(node["seconds"]))


def groups(nodes: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds by folder of the models; checks and seeds are groups by themselves. dbt runs two at a time."""
    spent: dict[str, float] = defaultdict(float)
    for node in nodes:
        spent[node["folder"] if node["kind"] == "model" else f"{node['kind']}s"] += node["seconds"]
    return {name: round(seconds, 2) for name, seconds in sorted(spent.items(), key=lambda group: -group[1])}


def profile_text(result: dict[str, Any]) -> str:
    """The profile for people: groups, then the largest models and checks."""
    world = result["world"]
    took = f"{result['wall']} s wall, {result['cpu']} s CPU, {result['peak_mb']:,} MB"
    parts = {
        "step": result["steps"],
        "group of models (two at a time)": result["groups"],
        "model, check or seed": {f"{n['kind']} {n['name']}": n["seconds"] for n in result["profile"][:40]},
    }
    lines = [
        f"touchledger build of {written(world['touches'])} touches, {world['kind']}, from the lake to a snapshot:",
        f"{took}; load {result['machine']['load_average']}",
    ]
    for what, seconds in parts.items():
        lines += ["", f"seconds  {what}", *(f"{spent:7.2f}  {name}" for name, spent in seconds.items())]
    return "\n".join(lines) + "\n"


def _print(result: dict[str, Any]) -> None:
    world, touches = result["world"], result["world"]["touches"]
    table = Table("", "seconds", "share", title=f"touchledger build of {written(touches)} touches, {world['kind']}")
    whole = sum(result["groups"].values())
    for name, spent in list(result["groups"].items())[:12]:
        table.add_row(name, f"{spent:.1f}", f"{spent / whole:.0%}")
    console = Console()
    console.print(table)
    console.print(
        f"{result['wall']} s wall, {result['cpu']} s CPU, {result['peak_mb']:,} MB; "
        f"{1e6 * result['cpu'] / touches:.1f} CPU seconds per million touches"
    )


if __name__ == "__main__":
    main()
