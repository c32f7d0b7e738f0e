"""A warehouse that stands before the credit stage, and the statements of that stage as dbt compiles them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import click

from benchmarks import direct
from benchmarks.generated import World
from benchmarks.landed import land
from orchestration.app_sets import land_app_sets
from orchestration.dbt_manifest import run_dbt, target
from orchestration.lake import Lake
from touchledger.accounts import create_profile
from touchledger.settings import Settings
from touchledger.state import prepare

# the credit stage is every model that lies between these tables and these ends
BEGINS = ("int_touches", "int_conversions")
ENDS = ("int_paths", "int_credits", "int_credit_cents")
SMALL = 20_000


@dataclass(frozen=True)
class Model:
    """A model's place in the warehouse and the statement that makes it; a view costs nothing until it is read.

    `packed` are the columns that DuckDB writes in one way only, as macros/materializations/tables.sql has them.
    """

    name: str
    relation: str
    is_view: bool
    sql: str
    packed: dict[str, str]


@dataclass(frozen=True)
class Staged:
    """A warehouse with touches and conversions, and the models to run on it in order."""

    warehouse: Path
    models: list[Model]
    profiles: list[str]


def stage(settings: Settings, world: World, *, directly: bool = True) -> Staged:
    """Make everything before the credit stage, by the models themselves or, much sooner, `directly`."""
    prepare(settings)
    profiles = [
        create_profile(settings, name=f"Bench {n}", timezone="UTC", currency="USD") for n in range(world.profiles)
    ]
    return staged_for(settings, profiles, world, directly=directly)


def staged_for(settings: Settings, profiles: list[str], world: World, *, directly: bool) -> Staged:
    """The same for profiles that exist."""
    lake = Lake(settings.lake)
    land_app_sets(settings.operational_url, lake)
    small = replace(world, touches=min(world.touches, SMALL))
    land(lake.root, profiles, small if directly else world)
    dbt(settings, "build", "--full-refresh", "--exclude-resource-type", "test", "unit_test", "--select", *_all())
    if directly:
        direct.fill(settings.warehouse, profiles, world)
    # compiled again: how a model is sliced is decided by what its inputs hold
    dbt(settings, "compile", "--full-refresh", "--select", *_all())
    return Staged(settings.warehouse, credit_models(settings), profiles)


def _all() -> list[str]:
    return [f"+{name}" for name in ENDS]


def dbt(settings: Settings, *command: str) -> None:
    """Run dbt to its end. Raises ClickException with the end of what it printed when it fails."""
    done = run_dbt(settings, list(command))
    if done.returncode != 0:
        raise click.ClickException(done.stdout[-3000:] + done.stderr[-2000:])


def credit_models(settings: Settings) -> list[Model]:
    """The models of the credit stage as they were compiled last, each after those it reads."""
    nodes: dict[str, Any] = {
        key: node
        for key, node in json.loads((target(settings) / "manifest.json").read_text())["nodes"].items()
        if node["resource_type"] == "model"
    }
    reads = {key: [on for on in node["depends_on"]["nodes"] if on in nodes] for key, node in nodes.items()}
    by_name = {node["name"]: key for key, node in nodes.items()}
    begun, needed = {by_name[name] for name in BEGINS}, {by_name[name] for name in ENDS}
    order = list(TopologicalSorter(reads).static_order())
    for key in reversed(order):
        if key in needed:
            needed |= set(reads[key])
    after: set[str] = set()
    for key in order:
        if key not in begun and (begun | after) & set(reads[key]):
            after.add(key)
    return [_model(nodes[key]) for key in order if key in after & needed]


def _model(node: dict[str, Any]) -> Model:
    relation = f"{node['schema']}.{node['alias']}"
    is_view, packed = node["config"]["materialized"] == "view", node["config"]["meta"].get("packed", {})
    return Model(node["name"], relation, is_view, node["compiled_code"], packed)
