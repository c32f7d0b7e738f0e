"""`make days`: drawn histories, built day by day on what was kept, and whole beside it; prints the rows that differ."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from benchmarks.increment import unlike
from tests.dbt_project.project import Project
from tests.dbt_project.snapshots import published, unpublished
from tests.laws.histories import CHANGED, History
from touchledger.settings import Settings
from touchledger.state import prepare


@click.command()
@click.option("--worlds", default=5, show_default=True, help="How many histories, of seeds that follow each other.")
@click.option("--days", default=6, show_default=True, help="Days after the first, each a build on the one before.")
@click.option("--profiles", default=12, show_default=True)
@click.option("--seed", default=1, show_default=True, help="Of the first history.")
@click.option("--changes", default=CHANGED, show_default=True, help="Of which share of the records a day tells.")
@click.option("--keep", type=click.Path(path_type=Path), help="Where to leave the first two builds that differ.")
def main(worlds: int, days: int, profiles: int, seed: int, changes: float, keep: Path | None) -> None:
    """Compare every table of every day; ends with 1 where one differs."""
    found = 0
    for number in range(seed, seed + worlds):
        with tempfile.TemporaryDirectory() as folder:
            found += compare(Path(folder), History(number, profiles, changes), days, keep)
    sys.exit(1 if found else 0)


def compare(folder: Path, history: History, days: int, keep: Path | None = None) -> int:
    """How many days of a history a build on what was kept made otherwise than a whole one."""
    project, found = Project(Settings(home=folder / "kept")), 0
    history.land(project.lake)
    project.build()
    prepare(project.settings)
    published(project)
    for day in range(1, days + 1):
        began = time.monotonic()
        history.another_day()
        history.land(project.lake)
        whole = Project(Settings(home=shutil.copytree(project.settings.home, folder / f"whole{day}")))
        with ThreadPoolExecutor(2) as pool:
            builds = pool.submit(project.build), pool.submit(whole.model_anew)
        for build in builds:
            build.result()
        differs = unlike(project.settings.warehouse, whole.settings.warehouse)
        differs |= {f"published {name}": 1 for name in unpublished(project)}
        changed = project.rows("select count(*) from intermediate.int_changed_people")[0][0]
        click.echo(f"seed {history.seed} day {day}: {changed} people anew, {time.monotonic() - began:.0f} s, {differs}")
        if differs:
            found += 1
            if keep and not keep.exists():
                shutil.copytree(folder, keep)
        shutil.rmtree(whole.settings.home)
    return found


if __name__ == "__main__":
    main()
