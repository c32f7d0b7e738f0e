"""One built warehouse per session, for tests that only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dbt_project import small_world
from tests.dbt_project.project import Project
from touchledger.settings import Settings


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small world, landed and built; read it only."""
    project = Project(Settings(home=tmp_path_factory.mktemp("world")))
    small_world.land(project)
    project.build()
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty deployment."""
    return Project(Settings(home=tmp_path / "home"))
