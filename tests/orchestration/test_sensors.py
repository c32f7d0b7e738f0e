"""When new input starts a build."""

from __future__ import annotations

import os
import subprocess
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin

from api.db import engine_for, transaction
from api.models import Erasure, IngestedRecord, Purge, Recompute
from orchestration.inbox import Dropped
from orchestration.instance import PID_TAG
from orchestration.sensors import (
    decide,
    erasure_key,
    erasures_waiting,
    new_input,
    newest_unlanded,
    purges_waiting,
    settled,
)
from tests.factories import accounts
from tests.factories.deployments import settings_of
from tests.fixtures.statements import statements
from touchledger.settings import Settings


def test_nothing_new_starts_nothing() -> None:
    assert decide(0, [], None) is None
    assert decide(0, [], "7:abc") is None


def test_new_records_start_one_build() -> None:
    key = decide(7, [], None)
    assert key is not None
    assert decide(7, [], key) is None
    assert decide(9, [], key) not in (None, key)


def test_a_dropped_file_starts_one_build_even_if_it_stays_unimportable() -> None:
    key = decide(0, ["a" * 64], None)
    assert key is not None
    assert decide(0, ["a" * 64], key) is None
    assert decide(0, ["a" * 64, "b" * 64], key) not in (None, key)


def test_landed_records_leave_no_build_behind() -> None:
    key = decide(7, ["a" * 64], None)
    assert decide(0, ["a" * 64], key) is None


def test_each_request_for_figures_anew_starts_one_build() -> None:
    key = decide(0, [], None, asked=5)
    assert key is not None
    assert decide(0, [], key, asked=5) is None
    assert decide(0, [], key, asked=0) is None
    assert decide(0, [], key, asked=6) not in (None, key)
    assert decide(0, ["a" * 64], key, asked=5) not in (None, key)


def test_a_file_that_was_just_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "touches.csv"
    path.write_text("x")
    os.utime(path, (100.0, 100.0))
    file = Dropped("_shared", "fx_rates", "f" * 64, path)
    assert settled([file], at=105.0) == []
    assert len(settled([file], at=111.0)) == 1


def test_a_file_that_was_renamed_or_moved_is_another_state_and_one_that_is_gone_is_none(tmp_path: Path) -> None:
    files = [Dropped("_shared", "fx_rates", "f" * 64, tmp_path / name) for name in ("a.txt", "a.csv", "gone.csv")]
    for file in files[:2]:
        file.path.write_text("x")
        os.utime(file.path, (100.0, 100.0))
    first, second = settled(files, at=111.0)
    assert decide(0, [second], decide(0, [first], None)) is not None


def test_the_sensor_asks_for_one_run_per_new_state(settings: Settings) -> None:
    accept_one(settings)
    with dg.DagsterInstance.ephemeral() as instance:
        first = new_input(dg.build_sensor_context(instance=instance))
        assert isinstance(first, dg.SensorResult)
        assert first.run_requests is not None
        assert len(first.run_requests) == 1
        again = new_input(dg.build_sensor_context(instance=instance, cursor=first.cursor))
    assert isinstance(again, dg.SkipReason)


def test_what_is_sent_after_the_newest_records_were_removed_is_built_for(settings: Settings) -> None:
    # SQLite gives the number of the last row again once an archived profile took it along: nothing of the others was
    # built for until their numbers had grown past it, or the night had come
    accounts.profile(settings.operational_url, name="other")
    accept_one(settings)
    with dg.DagsterInstance.ephemeral() as instance:
        first = new_input(dg.build_sensor_context(instance=instance))
        assert isinstance(first, dg.SensorResult)
        with transaction(settings.operational_url) as session:
            session.execute(sa.delete(IngestedRecord))
        gone = new_input(dg.build_sensor_context(instance=instance, cursor=first.cursor))
        assert isinstance(gone, dg.SkipReason)
        accept_one(settings, "another")
        again = new_input(dg.build_sensor_context(instance=instance, cursor=first.cursor))
        assert isinstance(again, dg.SensorResult)
        # Dagster starts no second run of the same key
        assert [one.run_key for one in again.run_requests or ()] != [one.run_key for one in first.run_requests or ()]


def test_a_record_that_was_committed_after_a_newer_one_is_built_for() -> None:
    # with several processes on Postgres the one with the lower number may be there last
    key = decide(9, [], None)
    assert decide(0, [], key) is None
    assert decide(8, [], key) not in (None, key)


def test_the_sensor_builds_for_a_request_and_fails_what_a_dead_build_held(settings: Settings) -> None:
    queued, held = (accounts.profile(settings.operational_url, name=name) for name in ("queued", "held"))
    with transaction(settings.operational_url) as session:
        session.add(Recompute(profile_id=queued.id, status="queued"))
        session.add(Recompute(profile_id=held.id, status="running", build_id="gone"))
    with dg.DagsterInstance.ephemeral() as instance:
        seen = new_input(dg.build_sensor_context(instance=instance))
        assert isinstance(seen, dg.SensorResult)
        assert isinstance(new_input(dg.build_sensor_context(instance=instance, cursor=seen.cursor)), dg.SkipReason)
    with transaction(settings.operational_url) as session:
        found = {one.profile_id: one.status for one in session.scalars(sa.select(Recompute))}
    assert found == {queued.id: "queued", held.id: "failed"}


ASKED = datetime(2026, 11, 16, 10, 59, tzinfo=UTC)


def test_an_erasure_is_built_for_at_once_and_once_an_hour_until_it_is_done() -> None:
    assert erasure_key([], ASKED, None) is None
    key = erasure_key(["1"], ASKED, None)
    assert key is not None
    assert erasure_key(["1"], ASKED, key) is None
    assert erasure_key(["1", "2"], ASKED, key) not in (None, key)
    assert erasure_key(["1"], ASKED + timedelta(hours=1), key) not in (None, key)


@pytest.mark.parametrize("status", ["ENQUEUED", "STARTING", "START"])
def test_no_second_build_is_asked_for_while_one_may_still_erase(settings: Settings, status: str) -> None:
    _ask_to_erase(settings)
    for job in ("build", "nightly", "hourly_delivery"):
        with dg.DagsterInstance.ephemeral() as instance:
            run = noted_run(instance, job, status)
            context = dg.build_sensor_context(instance=instance, cursor="an hour ago")
            for sensor in (erasures_waiting, purges_waiting):
                assert isinstance(sensor(context), dg.SkipReason)
            instance.report_run_failed(run)
            for sensor in (erasures_waiting, purges_waiting):
                due = sensor(context)
                assert isinstance(due, dg.SensorResult) and len(due.run_requests or []) == 1
                assert isinstance(sensor(dg.build_sensor_context(instance=instance, cursor=due.cursor)), dg.SkipReason)


def test_neither_a_pull_nor_what_a_dead_command_left_keeps_an_erasure_waiting(settings: Settings) -> None:
    _ask_to_erase(settings)
    gone = subprocess.Popen(["true"])
    gone.wait()
    with dg.DagsterInstance.ephemeral() as instance:
        noted_run(instance, "sync", "START")
        noted_run(instance, "build", "START", {PID_TAG: str(gone.pid)})
        context = dg.build_sensor_context(instance=instance)
        for sensor in (erasures_waiting, purges_waiting):
            assert isinstance(sensor(context), dg.SensorResult)


def test_a_command_that_was_killed_is_ended_in_the_books_by_the_next_look(settings: Settings) -> None:
    # it stayed as going on until the next command came, and builds that Dagster had begun stood queued behind it
    gone = subprocess.Popen(["true"])
    gone.wait()
    with dg.DagsterInstance.ephemeral() as instance:
        dead, going_on = (noted_run(instance, "build", "START", {PID_TAG: str(pid)}) for pid in (gone.pid, os.getpid()))
        new_input(dg.build_sensor_context(instance=instance))
        told = {run.run_id: run.status for run in instance.get_runs()}
    assert told == {dead.run_id: dg.DagsterRunStatus.FAILURE, going_on.run_id: dg.DagsterRunStatus.STARTED}


def _ask_to_erase(settings: Settings) -> None:
    """Ask for the erasure of a person, and for the purge of a profile."""
    profile = accounts.profile(settings.operational_url)
    with transaction(settings.operational_url) as session:
        session.add(
            Erasure(profile_id=profile.id, reason="customer_request", counts={}, due_at=ASKED, status="processing")
        )
        session.add(Purge(profile_id=profile.id))


def noted_run(
    instance: dg.DagsterInstance, job: str, status: str, tags: dict[str, str] | None = None, **told: Any
) -> dg.DagsterRun:
    """A run that got as far as the event of this name."""
    # without one no run is let into the queue
    origin = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("touchledger"), "jobs").get_job_origin(job)
    made = dg.DagsterRun(job_name=job, run_id=str(uuid.uuid4()), tags=tags or {}, remote_job_origin=origin, **told)
    run = instance.add_run(made)
    instance.report_dagster_event(dg.DagsterEvent(f"PIPELINE_{status}", job), run.run_id)
    return run


def accept_one(settings: Settings, name: str = "one") -> None:
    assert newest_unlanded(settings) == 0
    profile = accounts.profile(settings.operational_url, name=name)
    with transaction(settings.operational_url) as session:
        session.add(
            IngestedRecord(profile_id=profile.id, dataset="touches", record_key="t1", fingerprint="f", record={})
        )
    assert newest_unlanded(settings) > 0


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_look_for_what_waits_does_not_read_all_that_ever_came(home: Path, database_url: str) -> None:
    # where something waited when Postgres last counted, it read a million records at each look at which nothing did
    profile, engine = accounts.profile(database_url), engine_for(database_url)
    fill = (
        "insert into ingested_records (profile_id, dataset, record_key, fingerprint, record, received_at, landed_batch)"
        " select :profile, 'touches', i, 'f', '{}', now(), case when i <= 5000 then 'b' end"
        " from generate_series(1, 5100) as i"
    )
    with transaction(database_url) as session:
        session.execute(sa.text(fill), {"profile": profile.id})
        session.execute(sa.text("analyze ingested_records"))
        session.execute(sa.text("update ingested_records set landed_batch = 'b'"))
    with statements(engine) as run:
        assert newest_unlanded(settings_of(home, database_url)) == 0
    (asked,) = (one for one in run if "FROM ingested_records" in one[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"explain {asked[0]}", asked[1]).scalars().all()
    assert "ix_ingested_records_batch" in "".join(plan) and "pk_ingested_records" not in "".join(plan)
