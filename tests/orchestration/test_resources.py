"""What a run's resources leave behind in the process that it ran in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import dagster as dg
import pytest
import sqlalchemy as sa

from api.db import engine_for
from api.migrate import NewerDatabaseError
from orchestration import pointer
from orchestration.instance import PID_TAG, RUN_TAG, fail_orphans, prepare_instance, process_tags
from orchestration.jobs import JOBS
from orchestration.orphans import PARENT_VARIABLE
from orchestration.resources import Deployment, Warehouse
from orchestration.says_why import NotBegunError
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


# a run as the daemon begins one: nothing tells whose process executes it
KILLED = """
import os, signal
import dagster as dg
from orchestration.resources import Deployment

@dg.asset
def cut_off(deployment: Deployment) -> None:
    os.kill(os.getpid(), signal.SIGKILL)

with dg.DagsterInstance.get() as instance:
    dg.materialize([cut_off], instance=instance, resources={"deployment": Deployment()})
"""


def test_a_run_of_dagsters_own_that_was_killed_is_ended_in_its_books(settings: Settings) -> None:
    # after a loss of power it stood as started for four hours, and builds and erasures waited behind it
    prepare_instance(settings)
    killed = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with dg.DagsterInstance.get() as instance:
        (run,) = instance.get_runs()
        assert run.status is dg.DagsterRunStatus.STARTED
        assert fail_orphans(instance) == [run.run_id]
        assert [one.status for one in instance.get_runs()] == [dg.DagsterRunStatus.FAILURE]


def test_a_run_that_repeats_another_is_of_the_process_that_executes_it() -> None:
    @dg.asset
    def again(deployment: Deployment) -> None:
        pass

    before = {RUN_TAG: "the run that it repeats", PID_TAG: "999999999"}
    with dg.DagsterInstance.ephemeral() as instance:
        dg.materialize([again], instance=instance, resources={"deployment": Deployment()}, tags=before)
        (run,) = instance.get_runs()
    assert process_tags(run.run_id).items() <= run.tags.items()


def test_every_job_notes_its_process() -> None:
    from orchestration.definitions import defs

    for job in JOBS:
        nodes = defs.resolve_job_def(job.name).nodes
        assert any("deployment" in node.definition.required_resource_keys for node in nodes), job.name


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
        with pytest.raises((NewerDatabaseError, NotBegunError), match="of a newer version"):
            begun()
