"""One built warehouse per session, for tests that only read."""

from __future__ import annotations

import pytest

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
    payment_worlds,
    score_worlds,
    small_world,
)
from tests.dbt_project.project import Project, built_once
from tests.factories.deployments import migrate
from touchledger.settings import Settings

PRINTED = "printed by the first build"


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small world, built empty with every unit test and then again with its records landed."""

    def build(project: Project) -> None:
        (project.settings.home / PRINTED).write_text(project.dbt("build", "--no-write-json"))
        small_world.land(project)
        project.build()

    return built_once(tmp_path_factory, "world", build)


@pytest.fixture(scope="session")
def printed(world: Project) -> str:
    """What dbt said when it built that world empty."""
    return (world.settings.home / PRINTED).read_text()


@pytest.fixture(scope="session")
def credited(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The golden cases, the random worlds and the canary, each a profile of its own, built together; read it only."""

    def build(project: Project) -> None:
        for cases in (
            credit_cases, credit_worlds, ad_people_worlds, canary, goals_world, score_worlds, judged_world,
            payment_worlds,
        ):  # fmt: skip
            cases.land(project)
        project.build()

    return built_once(tmp_path_factory, "credited", build)


@pytest.fixture(scope="session")
def published(credited: Project) -> Settings:
    """The same world as a published snapshot."""
    migrate(credited.settings)
    write_likelihoods(credited.settings)
    publish(credited.settings, token=take_token(credited.settings.operational_url), tables=served_tables())
    return credited.settings
