"""How a model's table takes the place of what was there."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.dbt_project.project import Project
from touchledger.settings import Settings

MODEL = "stg_app__profiles"
VIEW = "int_score_constants"


def test_a_table_replaces_a_view_and_outlives_a_statement_that_fails(tmp_path: Path) -> None:
    project = Project(Settings(home=tmp_path))
    project.land_profiles({"profile_id": "p"})
    with duckdb.connect(str(project.settings.warehouse)) as connection:
        connection.execute("create schema staging")
        connection.execute(f"create view staging.{MODEL} as select 1 as one")
    project.dbt("run", "--quiet", "--select", MODEL)
    kinds = project.rows(f"select table_type from information_schema.tables where table_name = '{MODEL}'")
    assert kinds == [("BASE TABLE",)]
    before = project.rows(f"select * from staging.{MODEL}")
    assert len(before) == 1

    for file in (project.settings.lake / "raw" / "profiles").rglob("*.parquet"):
        file.write_bytes(b"broken")
    with pytest.raises(AssertionError, match=r"(?i)parquet"):
        project.dbt("run", "--quiet", "--select", MODEL)
    assert project.rows(f"select * from staging.{MODEL}") == before


def test_a_view_replaces_a_table_and_itself(tmp_path: Path) -> None:
    project = Project(Settings(home=tmp_path))
    with duckdb.connect(str(project.settings.warehouse)) as connection:
        connection.execute("create schema intermediate")
        connection.execute(f"create table intermediate.{VIEW} as select 1 as one")
    for _ in range(2):
        project.dbt("build", "--quiet", "--select", f"+{VIEW}", "--exclude-resource-type", "test", "unit_test")
        views = "select table_type from information_schema.tables where table_schema = 'intermediate'"
        assert project.rows(views) == [("VIEW",)]
