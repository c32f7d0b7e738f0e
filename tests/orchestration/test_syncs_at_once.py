"""What becomes of a connection while a run begins or ends its pull, on SQLite and on Postgres."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from api import connecting, connections
from api.db import transaction
from api.models import Connection, ConnectionSync, Profile
from api.scopes import Scope
from orchestration import pull_round
from orchestration.lake import Lake
from orchestration.sync import due, sync_kind
from sandbox.ad_catalogue import ACCOUNTS
from tests.factories import accounts
from tests.factories.deployments import application, settings_of
from tests.fixtures.at_once import meanwhile
from tests.fixtures.sandbox import TODAY, RunningSandbox
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


def disconnect(settings: Settings, connection_id: str) -> None:
    with transaction(settings.operational_url) as session:
        held: Any = {"with_for_update": {"key_share": True}}
        connections.end(session, settings, session.get_one(Connection, connection_id, **held))


def test_what_a_pull_heard_of_a_dead_token_does_not_bring_a_disconnected_account_back(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # on Postgres the run read the row, somebody disconnected it, and the run then wrote over that
    first, second = connect(settings, sandbox, token="dead")
    disconnect(settings, second)
    # the first look is at which accounts there are, the second begins with this one, the third notes how it went
    with meanwhile(settings.operational_url, "FROM connections", lambda: disconnect(settings, first), times=3):
        sync_kind(settings, lake, "ad_platform", DAYS)
    kept = reload(settings, first)
    assert (kept.status, kept.token) == ("disconnected", "")
    with transaction(settings.operational_url) as session:
        assert set(session.scalars(sa.select(ConnectionSync.status))) == {"failed"}


def test_a_pull_of_an_account_that_is_disconnected_meanwhile_asks_its_provider_nothing_more(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    # its owner was told that nothing is synced any more, and a first history went on with their token for an hour
    monkeypatch.setattr(pull_round, "LOOK", 0.1)
    first, second = connect(settings, sandbox, synced_through=None)
    disconnect(settings, second)
    this = pull_round.Round(settings, lake, DAYS, math.inf, due(settings, "ad_platform"))
    with ThreadPoolExecutor(1) as run, sandbox.holding("/insights$") as held:
        going = run.submit(this.pull)
        assert held.acquire(timeout=AT_MOST)
        disconnect(settings, first)
        wait_until(lambda: all(pull.stopped.is_set() for pull, _ in this.begun.values()))
        asked = sandbox.calls()
    assert (going.result(), sandbox.calls()) == ([], asked)
    with transaction(settings.operational_url) as session:
        ended = session.scalars(sa.select(ConnectionSync)).all()
        assert [(one.status, one.error) for one in ended] == [("failed", "disconnected")]
    assert reload(settings, first).status_reason is None


def test_a_pull_that_failed_takes_back_no_day_that_another_run_landed_meanwhile(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # a sync by hand that was refused beside the night's run had the whole history pulled once more
    first, second = connect(settings, sandbox, token="dead", synced_through=None)
    disconnect(settings, second)

    def land() -> None:
        with transaction(settings.operational_url) as session:
            session.get_one(Connection, first).synced_through = TODAY

    with meanwhile(settings.operational_url, "FROM connections", land, times=2):
        sync_kind(settings, lake, "ad_platform", DAYS)
    assert reload(settings, first).synced_through == TODAY


def test_two_runs_that_pull_at_once_are_both_told_as_running_and_then_as_done(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # `touchledger sync` beside a run of the daemon: whichever began later told of the other as failed, being abandoned
    connect(settings, sandbox)

    def told() -> list[str]:
        with transaction(settings.operational_url) as session:
            return list(session.scalars(sa.select(ConnectionSync.status)))

    pull = partial(sync_kind, settings, lake, "ad_platform", DAYS)
    with ThreadPoolExecutor(1) as other, sandbox.holding("/insights$", 2) as held:
        slow = other.submit(pull)
        for _ in range(2):
            assert held.acquire(timeout=AT_MOST)
        assert told() == ["running"] * 2
        pull()
        assert "failed" not in told()
    slow.result()
    assert told() == ["done"] * 4


def test_a_pull_that_stood_still_puts_nothing_older_over_what_another_landed_meanwhile(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # `touchledger sync` after Ctrl-Z and `fg`: names and figures of before came back until the next pull
    first, second = connect(settings, sandbox)
    disconnect(settings, second)
    campaign = next(one for one in sandbox.world.campaigns if one.account_id == ACCOUNTS[0].id)

    def told() -> list[str]:
        (path,) = (one.path for one in lake.batches("campaigns") if one.batch == first)
        return [row["name"] for row in pq.read_table(path).to_pylist() if row["campaign_id"] == campaign.id]

    pull = partial(sync_kind, settings, lake, "ad_platform", DAYS)
    with ThreadPoolExecutor(1) as other, sandbox.holding("/ads$") as held:
        slow = other.submit(pull)
        assert held.acquire(timeout=AT_MOST)
        sandbox.set(campaign.id, name="Renamed since")
        pull()
        assert told() == ["Renamed since"]
    (late,) = slow.result()
    assert (late.failure, told()) == (None, ["Renamed since"])


def test_days_asked_for_while_a_run_begins_are_pulled_by_it_or_by_the_next(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    # on Postgres the sync was looked up as queued, the run began it, and it then got days that nobody pulled
    first, second = connect(settings, sandbox, token="dead")
    disconnect(settings, second)
    with transaction(settings.operational_url) as session:
        profile = session.get_one(Profile, session.get_one(Connection, first).profile_id)
        connecting.queue_sync(session, session.get_one(Connection, first))
    key = accounts.secret(settings.operational_url, profile, scopes=[Scope.CONNECTIONS_WRITE])
    asked = {"date_from": "2026-10-01", "date_to": "2026-10-02"}
    run = partial(sync_kind, settings, lake, "ad_platform", DAYS)
    with meanwhile(settings.operational_url, "FROM connection_syncs", run) as came:
        answer = (
            application(settings)
            .test_client()
            .post(f"/api/v1/connections/{first}/sync", json=asked, headers={"Authorization": f"Bearer {key}"})
        )
    assert answer.status_code == 202, answer.text
    ((pull,),) = came
    with transaction(settings.operational_url) as session:
        waiting = sa.select(ConnectionSync.date_from).where(ConnectionSync.status == "queued")
        days = [pull.days.first, *session.scalars(waiting)]
    assert date(2026, 10, 1) in days
