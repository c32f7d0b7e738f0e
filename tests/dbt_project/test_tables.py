"""How a model's table or view takes the place of what was there."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest

from orchestration.dbt_manifest import ensure_manifest
from tests.dbt_project.project import Project
from touchledger.settings import Settings

TABLE = "stg_app__profiles"
VIEW = "int_score_constants"
BUILD = ("build", "--quiet", "--select", TABLE, f"+{VIEW}", "--exclude-resource-type", "test", "unit_test")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A build over a warehouse that has a view where a table belongs, and the other way round."""
    project = Project(Settings(home=tmp_path_factory.mktemp("tables")))
    project.land_profiles({"profile_id": "p"})
    with duckdb.connect(str(project.settings.warehouse)) as connection:
        connection.execute("create schema staging")
        connection.execute(f"create view staging.{TABLE} as select 1 as one")
        connection.execute("create schema intermediate")
        connection.execute(f"create table intermediate.{VIEW} as select 1 as one")
    project.dbt(*BUILD)
    return project


def kind_of(project: Project, name: str) -> list[str]:
    return [
        kind
        for (kind,) in project.rows(f"select table_type from information_schema.tables where table_name = '{name}'")
    ]


def test_a_table_replaces_a_view(project: Project) -> None:
    assert kind_of(project, TABLE) == ["BASE TABLE"]


def test_a_view_replaces_a_table(project: Project) -> None:
    assert kind_of(project, VIEW) == ["VIEW"]


def test_a_table_outlives_a_statement_that_fails_and_a_view_replaces_itself(project: Project) -> None:
    before = project.rows(f"select * from staging.{TABLE}")
    assert len(before) == 1
    for file in (project.settings.lake / "raw" / "profiles").rglob("*.parquet"):
        file.write_bytes(b"broken")
    with pytest.raises(AssertionError, match=r"(?i)parquet") as ended:
        project.dbt(*BUILD)
    assert VIEW not in str(ended.value)
    assert project.rows(f"select * from staging.{TABLE}") == before
    assert kind_of(project, VIEW) == ["VIEW"]


def test_columns_that_are_packed_in_one_way_are(credited: Project) -> None:
    nodes = json.loads(ensure_manifest(credited.settings).read_text())["nodes"].values()
    asked = {node["name"]: (node["schema"], node["config"]["meta"]["packed"]) for node in nodes if packs(node)}
    assert {"int_credits", "int_touches", "stg_app__touches"} <= asked.keys()
    # the statement that names the ways does not check the columns of a contract
    assert "marts" not in {schema for schema, _ in asked.values()}
    for name, (schema, ways) in asked.items():
        found = credited.rows(
            f"select distinct column_name, compression from pragma_storage_info('{schema}.{name}')"
            " where segment_type <> 'VALIDITY'"
        )
        # a segment of one value, or of none, is told by its statistics alone
        packed = {column: way.lower() for column, way in found if way not in ("Constant", "Empty Validity")}
        assert {column: packed.get(column) for column in ways} == ways, name


def packs(node: dict[str, Any]) -> bool:
    return node["resource_type"] == "model" and "packed" in node["config"]["meta"]
