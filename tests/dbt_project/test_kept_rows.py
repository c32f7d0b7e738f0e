"""What a build keeps of outcomes and people is what a whole build would make, whatever changed about them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from benchmarks.increment import unlike
from orchestration.kept_rows import kept_marts
from orchestration.publish import publish, take_token
from orchestration.renewal import ancestor
from orchestration.served_tables import ServedTable, served_tables
from tests.dbt_project import identity_changes, outcome_changes, people_changes
from tests.dbt_project.project import Project
from touchledger.settings import Settings
from touchledger.state import prepare


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The history, built."""
    found = Project(Settings(home=tmp_path_factory.mktemp("kept")))
    outcome_changes.land(found)
    people_changes.land(found)
    identity_changes.land(found)
    found.model()
    prepare(found.settings)
    published(found)
    return found


def marts() -> list[ServedTable]:
    """The served tables that models make and that name nobody."""
    return [table for table in served_tables() if not table.names_people and table.name != "ad_likelihoods"]


def published(project: Project) -> Path:
    """The snapshot of what is built."""
    settings, tables = project.settings, marts()
    token = take_token(settings.operational_url)
    done = publish(settings, token=token, tables=tables, kept=kept_marts(settings))
    return settings.published / done.pointer.file


def unpublished(project: Project) -> set[str]:
    """Names of tables in which the snapshot of what is built, made of the one before, is not like the marts."""
    before = ancestor(project.settings, marts(), kept_marts(project.settings))
    assert before is not None and before.kept
    with duckdb.connect(str(published(project)), read_only=True) as connection:
        connection.execute(f"attach '{project.settings.warehouse}' as warehouse (read_only)")
        return {
            table.name
            for table in marts()
            for one, other in (("main", "warehouse.marts"), ("warehouse.marts", "main"))
            if connection.execute(f"from {one}.{table.name} except all from {other}.{table.name}").fetchall()
        }


def like_a_whole_build(project: Project, home: Path, change: Callable[[Project], None]) -> set[str]:
    """Build a change on what was built; fails where a whole build beside it differs. Names of outcomes made anew."""
    change(project)
    shutil.copytree(project.settings.home, home)
    project.model()
    whole = Project(Settings(home=home))
    whole.dbt("build", "--full-refresh", "--quiet", "--no-write-json", "--exclude-resource-type", "test", "unit_test")
    assert unlike(project.settings.warehouse, whole.settings.warehouse) == {}
    assert unpublished(project) == set()
    return {name for (name,) in project.rows("select outcome_ref from intermediate.int_changed_outcomes")}


def _change(project: Project) -> None:
    outcome_changes.change(project)
    people_changes.change(project)
    identity_changes.change(project)


def test_outcomes_and_people_follow_whatever_changes_about_them(project: Project, tmp_path: Path) -> None:
    before = project.rows("select count(*) from marts.conversions where conversion_ref <> 'stays'")
    anew = like_a_whole_build(project, tmp_path / "changed", _change)
    assert "late" in anew and "stays" not in anew
    assert project.rows("select count(*) from marts.conversions where conversion_ref <> 'stays'") != before


def test_a_payment_goes_though_every_profile_got_another_number(project: Project, tmp_path: Path) -> None:
    gone = "select count(*) from marts.conversions where conversion_ref = 'x:leaves'"
    assert project.rows(gone) == [(1,)]
    like_a_whole_build(project, tmp_path / "numbered", outcome_changes.number_anew)
    assert project.rows(gone) == [(0,)]
