"""Dagster's own state, beside either operational database."""

from __future__ import annotations

import logging
import os
import re
import shutil
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
import yaml
from dagster._core.events import DagsterEvent
from dagster._core.storage.tags import TagType, get_tag_type
from pydantic import SecretStr

from api.db import close_engines, engine_for
from orchestration.instance import (
    BEGUN_TAG,
    HOST_TAG,
    NOTED_WITHIN,
    PID_TAG,
    STORAGE_VARIABLE,
    PooledHistoryError,
    SharedHistoryError,
    fail_orphans,
    prepare_instance,
    process_tags,
    require_own_line,
)
from orchestration.pipeline import run_job
from tests.fixtures.pooler import pooled
from touchledger.doctor import database
from touchledger.ends import told_in_a_line
from touchledger.settings import REPOSITORY, Settings


def test_runs_are_kept_beside_either_database(deployment: Settings) -> None:
    prepare_instance(deployment)
    assert os.environ["DAGSTER_HOME"] == str(deployment.dagster_home)
    with dg.DagsterInstance.get() as instance:
        instance.add_run(dg.DagsterRun(job_name="build", run_id="one"))
        assert [run.run_id for run in instance.get_runs()] == ["one"]
    # the operational schema is untouched: both keep a table named alembic_version
    assert sa.inspect(engine_for(deployment.operational_url)).has_table("api_keys")


def test_a_run_may_take_as_long_as_the_deployment_says(settings: Settings) -> None:
    # four hours were the end of every run, also of a build on Spark that needs more and then could never end
    for given, hours in ((settings, 4), (settings.model_copy(update={"run_hours": 12}), 12)):
        prepare_instance(given)
        with dg.DagsterInstance.get() as instance:
            assert instance.run_monitoring_enabled
            assert instance.run_monitoring_max_runtime_seconds == hours * 3600


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_user_who_may_make_no_schema_keeps_runs_in_the_one_that_was_made_for_it(deployment: Settings) -> None:
    # each command asked to have it made, which Postgres refuses such a user also where it is there already
    url = sa.make_url(deployment.operational_url)
    user = f"u{url.database}"
    with engine_for(deployment.operational_url).begin() as connection:
        for statement in (f"create role {user} login", f"create schema dagster authorization {user}"):
            connection.execute(sa.text(statement))
    limited = deployment.model_copy(
        update={"database_url": SecretStr(url.set(username=user).render_as_string(hide_password=False))}
    )
    prepare_instance(limited)
    with dg.DagsterInstance.get() as instance:
        instance.add_run(dg.DagsterRun(job_name="build", run_id="one"))
        assert [run.run_id for run in instance.get_runs()] == ["one"]
    close_engines(limited.operational_url)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_runs_began_when_they_began_whatever_the_zone_of_the_server(deployment: Settings) -> None:
    # Dagster's pages told a run that had just begun as hours old, or as one of hours from now
    with engine_for(deployment.operational_url).begin() as connection:
        name = connection.dialect.identifier_preparer.quote(str(connection.engine.url.database))
        connection.execute(sa.text(f"alter database {name} set timezone to 'America/St_Johns'"))
    prepare_instance(deployment)
    with dg.DagsterInstance.get() as instance:
        instance.add_run(dg.DagsterRun(job_name="build", run_id="one"))
        (record,) = instance.get_run_records()
    assert abs(datetime.now(UTC) - record.create_timestamp) < timedelta(minutes=5)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_server_that_is_gone_is_given_up_by_dagster_too(deployment: Settings) -> None:
    # its daemon had asked for two minutes to be let in, and waited two hours for an answer
    prepare_instance(deployment)
    engine = sa.create_engine(os.environ[STORAGE_VARIABLE], poolclass=sa.NullPool)
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        told = driver.info.dsn_parameters
    given = {name: told.get(name) for name in ("connect_timeout", "tcp_user_timeout", "keepalives_idle")}
    assert given == {"connect_timeout": "10", "tcp_user_timeout": "30000", "keepalives_idle": "10"}


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_second_deployment_of_another_schema_is_refused_the_books_of_the_first(deployment: Settings) -> None:
    # the daemons of both kept each other from beginning anything, and runs of one were the other's too
    prepare_instance(deployment)
    url = f"{deployment.operational_url}?options=-csearch_path%3Dsecond"
    with engine_for(url).begin() as connection:
        connection.execute(sa.text("create schema second"))
    second = deployment.model_copy(update={"database_url": SecretStr(url)})
    with pytest.raises(SharedHistoryError, match="in the schema public") as refused:
        prepare_instance(second)
    assert told_in_a_line(refused.value) == str(refused.value)
    prepare_instance(deployment)
    with engine_for(url).begin() as connection:
        connection.execute(sa.text("drop table dagster.touchledger_deployment"))
    prepare_instance(second)
    close_engines(url)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_pooler_that_drops_what_dagster_says_is_told_before_its_tables_are_made(deployment: Settings) -> None:
    # they were made among the operational ones, and each command after it ended with a traceback of Dagster's
    prepare_instance(deployment)
    require_own_line(deployment)
    with pooled(deployment.operational_url) as url:
        behind = deployment.model_copy(update={"database_url": SecretStr(url)})
        prepare_instance(behind)
        with pytest.raises(PooledHistoryError, match="own address in TOUCHLEDGER_DATABASE_URL") as refused:
            run_job(behind, "build")
        assert told_in_a_line(refused.value) == str(refused.value)
        close_engines(url)
        assert [(one.subject, one.verdict) for one in database(behind)] == [("database", "ok"), ("Dagster", "warn")]
        close_engines(url)
    assert not sa.inspect(engine_for(deployment.operational_url)).has_table("event_logs")


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_connection_that_dagster_does_not_get_ends_no_look_of_the_doctor(deployment: Settings) -> None:
    # it ended there, and told nothing of what it looks at next
    url = sa.make_url(deployment.operational_url)
    user = f"few{url.database}"
    with engine_for(deployment.operational_url).begin() as connection:
        connection.execute(sa.text(f"create role {user} login connection limit 1 in role {url.username}"))
    limited = deployment.model_copy(
        update={"database_url": SecretStr(url.set(username=user).render_as_string(hide_password=False))}
    )
    first, second = database(limited)
    assert (first.subject, first.verdict, second.subject, second.verdict) == ("database", "ok", "Dagster", "fail")
    assert f'too many connections for role "{user}"' in second.found
    close_engines(str(limited.operational_url))


def test_what_the_runbook_lets_go_of_a_full_disk_takes_the_runs_and_no_schedule(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the folder that grows most was not among them
    (told,) = re.findall(r"\*\*The disk is full\..*?\n\n", (REPOSITORY / "docs" / "runbook.md").read_text(), re.DOTALL)
    monkeypatch.setenv("DAGSTER_HOME", "")
    prepare_instance(settings)
    with dg.DagsterInstance.get() as instance:
        instance.add_run(dg.DagsterRun(job_name="build", run_id="one"))
    for name in re.findall(r"`((?:dbt|logs|dagster)/\w*)`", told):
        shutil.rmtree(settings.home / name, ignore_errors=True)
    with dg.DagsterInstance.get() as instance:
        assert instance.get_runs() == []
        instance.add_run(dg.DagsterRun(job_name="build", run_id="two"))
        assert [run.run_id for run in instance.get_runs()] == ["two"]
    assert (settings.dagster_home / "schedules" / "schedules.db").exists()


def test_nothing_calls_home_and_no_password_is_written(deployment: Settings) -> None:
    prepare_instance(deployment)
    text = (deployment.dagster_home / "dagster.yaml").read_text()
    config = yaml.safe_load(text)
    assert config["telemetry"] == config["nux"] == {"enabled": False}
    assert os.environ["DO_NOT_TRACK"] == "1"
    assert "postgresql" not in text
    assert ("KeptEventLog" in text) is deployment.operational_url.startswith("sqlite")


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.NOT_STARTED])
def test_only_runs_of_this_machine_are_ended_with_their_process(status: dg.DagsterRunStatus) -> None:
    # a command that ended between the two stood in the books as not started for ever
    gone = {PID_TAG: "999999999"}
    runs = {
        "of before": gone,
        "of a version with other tags": {"touchledger/pid": "999999999"},
        "here": {**process_tags("here"), **gone},
        "elsewhere": {**gone, HOST_TAG: "another machine"},
        "going on": process_tags("going on"),
        # in a container that is started anew the same command has the same number
        "of one whose number is another's": {**process_tags("of one whose number is another's"), BEGUN_TAG: "before"},
        "of a version that kept no begin": {**process_tags("of a version that kept no begin"), BEGUN_TAG: ""},
        "of a daemon": {},
        # Dagster copies the tags of a run that it begins again on its pages, in a process of its own
        "re-executed": {**process_tags("here"), **gone},
    }
    with dg.DagsterInstance.ephemeral() as instance:
        for name, tags in runs.items():
            instance.add_run(dg.DagsterRun("build", run_id=name, status=status, tags=tags))
        ended = ["here", "of a version with other tags", "of before", "of one whose number is another's"]
        assert sorted(fail_orphans(instance)) == ended


def test_dagsters_list_of_runs_shows_none_of_what_tells_their_process() -> None:
    # four of them stood below each run, and six runs filled the page
    assert {get_tag_type(name) for name in process_tags("any")} == {TagType.SYSTEM}


def test_a_run_whose_process_did_not_live_to_note_itself_is_ended_after_some_minutes() -> None:
    # a loss of power in its first half second: it stood as started for four hours, and builds waited behind it
    late, soon = time.time() - NOTED_WITHIN.total_seconds() - 1, time.time()
    begun: dict[str, tuple[float, dict[str, str]]] = {
        "nobody's": (late, {}),
        "nobody's that repeats another": (late, process_tags("another")),
        "just begun": (soon, {}),
        "elsewhere": (late, {**process_tags("elsewhere"), HOST_TAG: "another machine"}),
        "of before": (late, {PID_TAG: "999999999", HOST_TAG: "another machine"}),
        "of a version with other tags": (late, {"touchledger/pid": "9", "touchledger/host": "another machine"}),
    }
    with dg.DagsterInstance.ephemeral() as instance:
        for name, (at, tags) in begun.items():
            instance.add_run(dg.DagsterRun("build", run_id=name, status=dg.DagsterRunStatus.STARTING, tags=tags))
            told = DagsterEvent(dg.DagsterEventType.RUN_START.value, "build")
            instance.handle_new_event(dg.EventLogEntry(None, logging.INFO, "", name, at, dagster_event=told))
        assert sorted(fail_orphans(instance)) == ["nobody's", "nobody's that repeats another"]
