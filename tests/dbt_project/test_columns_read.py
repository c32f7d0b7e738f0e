"""A column between staging and the marts is there for a model that reads it, or for the build that keeps its rows."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

from benchmarks import ad_days
from orchestration.dbt_manifest import target
from tests.dbt_project.project import Project
from touchledger.settings import Settings

# what no model reads, and why it is there
OTHERS = {
    "int_account_days": {"ad_account_id": "a row is of one account"},
    "int_source_watermarks": {"landed_from": "a row is of one source"},
    "int_delivery": dict.fromkeys(
        ("currency", "rate", "rate_date", "rate_source", "is_rate_missing"), "by which rate an amount was converted"
    ),
}
# what orchestration/ranking_inputs.py learns from
RANKED = {"int_score_history", "int_score_history_layers"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Every model with its compiled SQL."""
    project = Project(Settings(home=tmp_path_factory.mktemp("columns")))
    project.land_profiles({"profile_id": "p"})
    project.dbt("compile", "--quiet")
    manifest = json.loads((target(project.settings) / "manifest.json").read_text())
    return [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]


def test_every_intermediate_column_is_read(world: Project, models: list[dict[str, Any]]) -> None:
    built: dict[str, dict[str, str]] = defaultdict(dict)
    columns = "select table_name, column_name, data_type from duckdb_columns() where not internal"
    for table, column, kind in world.rows(f"{columns} and schema_name <> 'changes'"):
        built[table][column] = kind
    read = defaultdict(set, {node["name"]: kept_by(node) for node in models})
    for node in models:
        for table, column in read_in(node["compiled_code"], built):
            read[table].add(column)
    unread = {
        node["name"]: unread
        for node in models
        if Path(node["path"]).parts[0] == "intermediate" and node["name"] not in RANKED
        # what changed is asked for only by a build that keeps the rest
        if not node["name"].startswith("int_changed_")
        if (unread := set(built[node["name"]]) - read[node["name"]])
    }
    assert unread == {name: set(columns) for name, columns in OTHERS.items()}


def test_the_benchmark_of_scores_makes_every_column_that_they_read(
    world: Project, models: list[dict[str, Any]], tmp_path: Path
) -> None:
    columns = "select table_name, column_name, data_type from duckdb_columns() where not internal"
    ad_days.write(tmp_path / "warehouse.duckdb", ads=10, split_days=1, seed=1)
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as connection:
        made = {(table, column) for table, column, _ in connection.execute(columns).fetchall()}
    built: dict[str, dict[str, str]] = defaultdict(dict)
    for table, column, kind in world.rows(f"{columns} and schema_name <> 'changes'"):
        built[table][column] = kind
    scores = [node for node in models if Path(node["path"]).parts[1] in {"scores", "top_performers"}]
    read = set().union(*(read_in(node["compiled_code"], built) for node in scores))
    tables = {table for table, _ in made}
    assert {(table, column) for table, column in read if table in tables} - made == set()


def kept_by(node: dict[str, Any]) -> set[str]:
    """The columns by which a build on what was kept finds the rows of a model that it gives anew."""
    config = node["config"]
    meta = config.get("meta", {})
    return {*(config.get("unique_key") or ()), *(meta.get("told") or ()), *filter(None, [meta.get("since")])}


def read_in(sql: str, built: dict[str, dict[str, str]]) -> set[tuple[str, str]]:
    """Tables and their columns that a model reads, through every CTE and star."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    for table in tree.find_all(exp.Table):
        table.set("db", None)
        table.set("catalog", None)
    tree = qualify(tree, schema=dict(built), dialect="duckdb", validate_qualify_columns=False)
    return {
        (table.name, column.name)
        for scope in traverse_scope(tree)
        for column in scope.columns
        if isinstance(table := scope.sources.get(column.table), exp.Table)
    }
