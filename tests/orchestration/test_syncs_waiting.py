"""The sensor that begins runs for syncs that somebody asked for."""

from __future__ import annotations

from datetime import timedelta

import dagster as dg
import sqlalchemy as sa
import time_machine

from api.db import transaction
from api.models import ConnectionSync
from orchestration.partitions import ONLY_QUEUED
from orchestration.sensors import syncs_waiting
from tests.factories import accounts, exports
from tests.orchestration.test_sensors import ASKED, noted_run
from touchledger.settings import Settings


def test_each_sync_that_waits_starts_one_run_that_asks_no_other_connection(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    connection = exports.connection(settings.operational_url, profile, is_sandbox=True)
    cursor = None
    with dg.DagsterInstance.ephemeral() as instance:
        assert isinstance(syncs_waiting(dg.build_sensor_context(instance=instance)), dg.SkipReason)
        for status, runs in (("running", 0), ("queued", 1), ("queued", 1)):
            with transaction(settings.operational_url) as session:
                session.add(ConnectionSync(connection_id=connection.id, profile_id=profile.id, status=status))
            seen = syncs_waiting(dg.build_sensor_context(instance=instance, cursor=cursor))
            assert isinstance(seen, dg.SensorResult if runs else dg.SkipReason)
            if isinstance(seen, dg.SensorResult):
                cursor = seen.cursor
                assert [ONLY_QUEUED in request.tags for request in seen.run_requests or []] == [True]
            again = syncs_waiting(dg.build_sensor_context(instance=instance, cursor=cursor))
            assert isinstance(again, dg.SkipReason)


def test_syncs_that_wait_for_their_turn_in_a_run_start_no_other(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    connection = exports.connection(settings.operational_url, profile, is_sandbox=True)
    with transaction(settings.operational_url) as session:
        for _ in range(2):
            session.add(ConnectionSync(connection_id=connection.id, profile_id=profile.id, status="queued"))
    with dg.DagsterInstance.ephemeral() as instance:
        seen = syncs_waiting(dg.build_sensor_context(instance=instance))
        assert isinstance(seen, dg.SensorResult) and len(seen.run_requests or []) == 1
        with transaction(settings.operational_url) as session:
            newest = sa.select(sa.func.max(ConnectionSync.id)).scalar_subquery()
            session.execute(sa.update(ConnectionSync).where(ConnectionSync.id == newest).values(status="done"))
        again = syncs_waiting(dg.build_sensor_context(instance=instance, cursor=seen.cursor))
        assert isinstance(again, dg.SkipReason)


def test_a_sync_that_no_run_had_time_for_is_tried_again_once_an_hour(settings: Settings) -> None:
    connection = exports.connection(settings.operational_url, accounts.profile(settings.operational_url))
    with transaction(settings.operational_url) as session:
        session.add(ConnectionSync(connection_id=connection.id, profile_id=connection.profile_id))
    keys, cursor = [], None
    with dg.DagsterInstance.ephemeral() as instance, time_machine.travel(ASKED, tick=False) as clock:
        for runs in (1, 0, 1):
            seen = syncs_waiting(dg.build_sensor_context(instance=instance, cursor=cursor))
            assert isinstance(seen, dg.SensorResult if runs else dg.SkipReason)
            if isinstance(seen, dg.SensorResult):
                cursor = seen.cursor
                keys += [request.run_key for request in seen.run_requests or []]
            else:
                clock.shift(timedelta(minutes=1))
        assert len(set(keys)) == 2
        noted_run(instance, "nightly", "STARTING")
        assert isinstance(syncs_waiting(dg.build_sensor_context(instance=instance)), dg.SkipReason)


def test_a_sync_asked_for_after_the_clock_was_set_back_starts_a_run(settings: Settings) -> None:
    # ids tell the time: one of the hours that the clock went back over is below the one that a run was begun for
    profile = accounts.profile(settings.operational_url)
    connection = exports.connection(settings.operational_url, profile, is_sandbox=True)
    cursor = None
    with dg.DagsterInstance.ephemeral() as instance:
        for number in ("01a30000-0000-7000-8000-000000000000", "01a20000-0000-7000-8000-000000000000"):
            with transaction(settings.operational_url) as session:
                session.execute(sa.update(ConnectionSync).values(status="done"))
                asked = {"connection_id": connection.id, "profile_id": profile.id, "status": "queued"}
                session.add(ConnectionSync(id=number, **asked))
            seen = syncs_waiting(dg.build_sensor_context(instance=instance, cursor=cursor))
            assert isinstance(seen, dg.SensorResult)
            cursor = seen.cursor
