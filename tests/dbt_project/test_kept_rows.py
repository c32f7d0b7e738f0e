"""What a build keeps of outcomes and people is what a whole build would make, whatever changed about them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.increment import unlike
from tests.dbt_project import identity_changes, outcome_changes, people_changes
from tests.dbt_project.project import Project
from tests.dbt_project.snapshots import published, unpublished
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


def like_a_whole_build(project: Project, home: Path, change: Callable[[Project], None]) -> set[str]:
    """Build a change on what was built; fails where a whole build beside it differs. Names of outcomes made anew."""
    change(project)
    shutil.copytree(project.settings.home, home)
    project.model()
    whole = Project(Settings(home=home))
    whole.model_anew()
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
    names = "select first_name, last_name from marts.person_names where first_name > 'B' or last_name > '' order by 1"
    assert project.rows(names) == [("Bea", None), ("Gus 1", None), (None, "Reed")]


def test_a_payment_goes_though_every_profile_got_another_number(project: Project, tmp_path: Path) -> None:
    gone = "select count(*) from marts.conversions where conversion_ref = 'x:leaves'"
    assert project.rows(gone) == [(1,)]
    like_a_whole_build(project, tmp_path / "numbered", outcome_changes.number_anew)
    assert project.rows(gone) == [(0,)]
