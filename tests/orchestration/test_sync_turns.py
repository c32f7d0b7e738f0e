"""Who is asked, in which order and for how long, where many workspaces have connections; on SQLite and on Postgres."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from api.db import engine_for, now, transaction
from api.models import Connection, ConnectionSync, Profile
from api.v1.connections.shape import told
from orchestration.lake import Lake
from orchestration.pull_round import AT_ONCE, LEFT
from orchestration.sync import due, queued_syncs, sync_kind
from tests.factories import accounts, exports
from tests.factories.deployments import settings_of
from tests.fixtures.sandbox import RunningSandbox, served
from tests.fixtures.statements import statements
from tests.fixtures.waiting import AT_MOST, wait_until
from tests.orchestration.test_sync import DAYS, connect, reload
from touchledger.settings import Settings


@pytest.fixture
def settings(home: Path, database_url: str) -> Settings:
    return settings_of(home, database_url)


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


def sync(settings: Settings, connection: Connection, **columns: Any) -> str:
    """A sync of the connection, done unless told otherwise; gives its id."""
    given = {"status": "done", "finished_at": now(), **columns}
    with transaction(settings.operational_url) as session:
        made = ConnectionSync(connection_id=connection.id, profile_id=connection.profile_id, **given)
        session.add(made)
    return made.id


def statuses(settings: Settings) -> dict[str, str]:
    with transaction(settings.operational_url) as session:
        return {one.connection_id: one.status for one in session.scalars(sa.select(ConnectionSync))}


def test_a_pull_that_is_over_is_noted_while_another_goes_on(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # all were told as running until the slowest was over; killed before that, the next run pulled all of them anew
    first, second = connect(settings, sandbox, synced_through=None)
    account = reload(settings, first).external_account_id
    with ThreadPoolExecutor(1) as run, sandbox.holding(f"{account}/insights$") as held:
        going = run.submit(sync_kind, settings, lake, "ad_platform", DAYS)
        assert held.acquire(timeout=AT_MOST)
        wait_until(lambda: statuses(settings) == {first: "running", second: "done"})
        assert reload(settings, second).synced_through is not None
    going.result()
    assert set(statuses(settings).values()) == {"done"}


def test_what_was_asked_for_comes_first_and_then_what_was_pulled_longest_ago(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    made = [connection(settings, profile) for _ in range(4)]
    for index in (1, 2, 0):
        sync(settings, made[index])
    sync(settings, made[2], status="queued")
    assert [one.id for one, _ in due(settings, "ad_platform")] == [made[index].id for index in (2, 3, 1, 0)]
    asked = due(settings, "ad_platform", only_queued=True)
    assert [(one.id, of) for one, of in asked] == [(made[2].id, profile.workspace_id)]


def test_accounts_of_one_workspace_that_do_not_answer_take_no_turn_of_another(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # eight of them kept everybody else's pulls, and the build behind, waiting for ten minutes
    slow, goes_on = Flask("slow"), Event()

    @slow.before_request
    def wait() -> Any:
        goes_on.wait()
        return {"error": {"code": 190}}, 401

    agency = accounts.profile(settings.operational_url)
    with served(slow) as address:
        many = [connection(settings, agency, base_url=f"{address}/meta").id for _ in range(AT_ONCE * 2)]
        shop = connect(settings, sandbox)
        with ThreadPoolExecutor(1) as run:
            going = run.submit(sync_kind, settings, lake, "ad_platform", DAYS)
            try:
                wait_until(lambda: [statuses(settings).get(one) for one in shop] == ["done"] * 2)
            finally:
                goes_on.set()
        going.result()
    assert [statuses(settings)[one] for one in many] == ["failed"] * len(many)


def test_a_run_for_what_was_asked_for_asks_nobody_else(settings: Settings, sandbox: RunningSandbox, lake: Lake) -> None:
    # one tenant who asked for an account's newest data had the accounts of all others pulled
    first, second = connect(settings, sandbox, token="dead")
    sync(settings, reload(settings, second), status="queued", finished_at=None)
    (pull,) = sync_kind(settings, lake, "ad_platform", DAYS, only_queued=True)
    assert (pull.connection.id, statuses(settings)) == (second, {second: "failed"})
    assert reload(settings, first).status == "active"


def test_what_a_run_has_no_time_for_is_left_to_the_next(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, _ = connect(settings, sandbox)
    sync(settings, reload(settings, first), status="queued", finished_at=None)
    pulls = sync_kind(settings, lake, "ad_platform", DAYS, longest=-1)
    assert [pull.failure.reason for pull in pulls if pull.failure] == [LEFT] * 2
    assert (statuses(settings), reload(settings, first).status_reason) == ({first: "queued"}, None)


def test_syncs_go_after_a_month_also_of_who_is_pulled_no_more(settings: Settings, lake: Lake) -> None:
    # the last month of an account that was disconnected stayed for good, 720 rows of it
    profile = accounts.profile(settings.operational_url)
    gone = connection(settings, profile)
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, gone.id).status = "disconnected"
    kept = sync(settings, gone, finished_at=now() - timedelta(days=29))
    sync(settings, gone, finished_at=now() - timedelta(days=31))
    sync(settings, gone, status="queued", finished_at=None)
    assert sync_kind(settings, lake, "ad_platform", DAYS) == []
    with transaction(settings.operational_url) as session:
        ended = sa.select(ConnectionSync.id).where(ConnectionSync.finished_at.is_not(None))
        assert session.scalars(ended).all() == [kept]
    # nobody pulls it, so nothing is begun for it
    assert queued_syncs(settings) == []


def test_the_newest_sync_of_each_connection_is_read_off_an_index(sqlite_url: str, tmp_path: Path) -> None:
    # a page of 100 accounts read the 72,000 syncs that they had in a month
    settings = settings_of(tmp_path, sqlite_url)
    made = connection(settings, accounts.profile(sqlite_url))
    newest = [sync(settings, made) for _ in range(2)][-1]
    with statements(engine_for(sqlite_url)) as run:
        with transaction(sqlite_url) as session:
            (shown,) = told(session, [made])
            finished = session.get_one(ConnectionSync, newest).finished_at
        due(settings, "ad_platform")
        queued_syncs(settings)
    assert shown["last_sync"]["finished_at"] == finished
    with engine_for(sqlite_url).connect() as database:
        for statement, values in run:
            if "connection_syncs" in statement and statement.startswith("SELECT"):
                plan = [step.detail for step in database.exec_driver_sql(f"explain query plan {statement}", values)]
                assert not [step for step in plan if step.startswith("SCAN connection_syncs")], statement
                if "max(" in statement:
                    assert [step for step in plan if "COVERING INDEX ix_connection_syncs_newest" in step], plan


def connection(settings: Settings, profile: Profile, **more: Any) -> Connection:
    return exports.connection(settings.operational_url, profile, is_sandbox=True, **more)
