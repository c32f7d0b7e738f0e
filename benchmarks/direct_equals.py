"""Whether tables that were filled directly are what the models make: `python -m benchmarks.direct_equals`.

The same world is built twice, by the models from its lake and directly; exits with 1 when a row differs.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import click

from benchmarks.direct import differences
from benchmarks.generated import World
from benchmarks.sizes import size
from benchmarks.staged import stage, staged_for
from touchledger.settings import Settings
from touchledger.state import prepare


@click.command()
@click.option("--touches", default="1M", show_default=True)
@click.option("--kind", default="skewed", show_default=True)
@click.option("--profiles", default=2, show_default=True)
@click.option("--seed", default=7, show_default=True)
def main(touches: str, kind: str, profiles: int, seed: int) -> None:
    """Build both and compare."""
    world = World(size(touches), seed=seed, kind=kind, profiles=profiles)
    with tempfile.TemporaryDirectory() as folder:
        found = compared(Path(folder), world)
    for table, rows in found.items():
        click.echo(f"{table}: {rows:,} rows differ")
    if any(found.values()):
        raise SystemExit(1)


def compared(folder: Path, world: World) -> dict[str, int]:
    """Differing rows by table; ids hang on the profile's, so both deployments have the same state."""
    by_models, directly = (Settings(home=folder / name) for name in ("models", "direct"))
    built = stage(by_models, world, directly=False)
    prepare(directly)
    # not a copy of the file, which may lack what is still in the log beside it
    with (
        closing(sqlite3.connect(by_models.home / "operational.db")) as known,
        closing(sqlite3.connect(directly.home / "operational.db")) as copy,
    ):
        known.backup(copy)
    filled = staged_for(directly, built.profiles, world, directly=True)
    return differences(built.warehouse, filled.warehouse)


if __name__ == "__main__":
    main()
