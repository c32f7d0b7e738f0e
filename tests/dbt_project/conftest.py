"""One built warehouse per session, for tests that only read."""

from __future__ import annotations

import pytest

from api.migrate import upgrade
from orchestration.likelihoods import write_likelihoods
from orchestration.publish import publish, take_token
from orchestration.served_tables import served_tables
from tests.dbt_project import (
    ad_people_worlds,
    canary,
    credit_cases,
    credit_worlds,
    goals_world,
    judged_world,
    score_worlds,
    small_world,
)
from tests.dbt_project.project import Project
from touchledger.settings import Settings


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small world, built empty with every unit test and then again with its records landed; read it only."""
    project = Project(Settings(home=tmp_path_factory.mktemp("world")))
    project.printed = project.dbt("build")
    small_world.land(project)
    project.build()
    return project


@pytest.fixture(scope="session")
def credited(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The golden cases, the random worlds and the canary, each a profile of its own, built together; read it only."""
    project = Project(Settings(home=tmp_path_factory.mktemp("credited")))
    credit_cases.land(project)
    credit_worlds.land(project)
    ad_people_worlds.land(project)
    canary.land(project)
    goals_world.land(project)
    score_worlds.land(project)
    judged_world.land(project)
    project.build()
    return project


@pytest.fixture(scope="session")
def published(credited: Project) -> Settings:
    """The same world as a published snapshot."""
    upgrade(credited.settings.operational_url)
    write_likelihoods(credited.settings)
    publish(credited.settings, token=take_token(credited.settings.operational_url), tables=served_tables())
    return credited.settings
