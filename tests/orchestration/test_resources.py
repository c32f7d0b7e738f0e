"""What a run's resources leave behind in the process that it ran in."""

from __future__ import annotations

import os

import dagster as dg
import pytest
import sqlalchemy as sa

from api.db import engine_for
from api.migrate import NewerDatabaseError
from orchestration import pointer
from orchestration.orphans import PARENT_VARIABLE
from orchestration.resources import Deployment, Warehouse
from touchledger import settings as settings_module
from touchledger.settings import Settings


def test_the_processes_of_a_command_are_not_told_a_parent_once_its_run_is_over(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Dagster, which `up` starts after its own run, handed it on: dbt, begun there to parse the project, ended at once
    monkeypatch.delenv(PARENT_VARIABLE, raising=False)
    with Warehouse().yield_for_execution(dg.build_init_resource_context()):
        assert os.environ[PARENT_VARIABLE] == str(os.getpid())
    assert PARENT_VARIABLE not in os.environ


def test_runs_over_a_database_of_before_what_is_served_may_publish_over_that(
    deployment: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # after a backup was put back each run failed, as one that had begun before the newest, until it had caught up
    monkeypatch.setenv("TOUCHLEDGER_DATABASE_URL", deployment.operational_url)
    settings_module.load.cache_clear()
    deployment.published.mkdir(parents=True, exist_ok=True)
    pointer.move(deployment.published, pointer.Pointer("s", 7, "served-s.duckdb", "", "2026-03-01T00:00:00+00:00"))
    tokens = []
    for _ in range(3):
        with Warehouse().yield_for_execution(dg.build_init_resource_context()) as warehouse:
            tokens.append(warehouse.token)
    assert tokens == [8, 9, 10]


def test_a_pipeline_that_an_upgrade_left_running_neither_lands_nor_publishes(
    deployment: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it published over the newer version's snapshot, and that version's API, once restarted, answered 503
    monkeypatch.setenv("TOUCHLEDGER_DATABASE_URL", deployment.operational_url)
    settings_module.load.cache_clear()
    with engine_for(deployment.operational_url).begin() as connection:
        connection.execute(sa.text("update alembic_version set version_num = 'of_tomorrow'"))
    for begun in (
        Deployment().lake_to_land_in,
        Warehouse().yield_for_execution(dg.build_init_resource_context()).__enter__,
    ):
        with pytest.raises(NewerDatabaseError, match="of a newer version"):
            begun()
