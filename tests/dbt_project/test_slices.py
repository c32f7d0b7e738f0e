"""Models that work through slices of people give the same rows however many slices there are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orchestration.dbt_manifest import target
from tests.dbt_project.project import Project
from touchledger.settings import Settings

SLICED = ("int_path_bounds", "int_credits")


@pytest.fixture(scope="module")
def sliced(credited: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    # every other world of the tests is one slice
    home = tmp_path_factory.mktemp("sliced")
    project = Project(Settings(home=shutil.copytree(credited.settings.home, home, dirs_exist_ok=True)))
    command = ("run", "--full-refresh", "--no-write-json", "--vars", "{slice_touches: 100}")
    project.dbt(*command, "--select", *SLICED)
    return project


@pytest.mark.parametrize("model", SLICED)
def test_slices_give_the_rows_of_one(credited: Project, sliced: Project, model: str) -> None:
    (compiled,) = Path(target(sliced.settings), "compiled").rglob(f"{model}.sql")
    assert compiled.read_text().count("union all") >= 5
    rows = sorted(credited.rows(f"select * from intermediate.{model}"))
    assert rows
    assert sorted(sliced.rows(f"select * from intermediate.{model}")) == rows
