"""Connections are pulled each on its own, into the lake, from the sandbox over HTTP."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
import time_machine

from api.db import transaction
from api.models import Connection, ConnectionSync, Profile, Workspace
from orchestration import partitions
from orchestration.lake import Lake
from orchestration.landed_facts import META_KEY, read_facts
from orchestration.partitions import DayRange
from orchestration.pull_round import today
from orchestration.sync import pull_range, sync_kind
from sandbox.ad_catalogue import ACCOUNTS
from sandbox.faces import TOKENS
from tests.fixtures.sandbox import TODAY, RunningSandbox
from touchledger.settings import Settings

DAYS = DayRange(date(2026, 11, 10), TODAY)


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


def connect(settings: Settings, sandbox: RunningSandbox, **changes: Any) -> list[str]:
    """Connect both ad accounts of the sandbox, landed until before `DAYS`; gives the connections' ids."""
    with transaction(settings.operational_url) as session:
        workspace = Workspace(name="w")
        session.add(workspace)
        session.flush()
        profile = Profile(workspace_id=workspace.id, name="p", timezone="UTC", reporting_currency="USD")
        session.add(profile)
        session.flush()
        made = [_connection(profile, sandbox, row.id, **changes) for row in ACCOUNTS]
        session.add_all(made)
        session.flush()
        return [connection.id for connection in made]


def _connection(profile: Profile, sandbox: RunningSandbox, account: str, **changes: Any) -> Connection:
    landed = {"synced_through": DAYS.first - timedelta(days=1)}
    columns = {"token": TOKENS["meta"], "base_url": f"{sandbox.url}/meta", **landed, **changes}
    return Connection(
        profile_id=profile.id,
        provider="meta",
        kind="ad_platform",
        display_name=account,
        external_account_id=account,
        is_sandbox=True,
        **columns,
    )


def reload(settings: Settings, id: str) -> Connection:
    with transaction(settings.operational_url) as session:
        return session.get_one(Connection, id)


def landed_at(path: Path, moment: datetime) -> None:
    """Have a landed file say that it was landed at another moment."""
    facts = replace(read_facts(path), loaded_at=moment.isoformat())
    table = pq.read_table(path).replace_schema_metadata({META_KEY: json.dumps(asdict(facts))})
    pq.write_table(table, path)


def test_a_pull_lands_every_day_as_a_batch_of_its_own(settings: Settings, sandbox: RunningSandbox, lake: Lake) -> None:
    first, second = connect(settings, sandbox)
    sync_kind(settings, lake, "ad_platform", DAYS)
    landed = {batch.batch for batch in lake.batches("ad_delivery")}
    assert landed == {f"{id}-2026-11-{day}" for id in (first, second) for day in range(10, 17)}
    assert reload(settings, first).synced_through == TODAY


def test_a_second_pull_of_the_same_days_changes_nothing(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    connect(settings, sandbox)
    sync_kind(settings, lake, "ad_platform", DAYS)
    again = sync_kind(settings, lake, "ad_platform", DAYS)
    assert [landing for pull in again for landing in pull.landings if landing.changed] == []


def test_a_day_that_was_pulled_while_it_ran_lands_once_more_when_it_is_over(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, _ = connect(settings, sandbox)
    sync_kind(settings, lake, "ad_platform", DAYS)
    zone = ZoneInfo(next(row.time_zone for row in ACCOUNTS))
    for day, hour in ((14, 0), (15, 23)):
        (batch,) = (one for one in lake.batches("ad_delivery") if one.batch == f"{first}-2026-11-{day}")
        landed_at(batch.path, datetime(2026, 11, 15, hour, 59, tzinfo=zone))
    again = sync_kind(settings, lake, "ad_platform", DAYS)
    changed = [landing.batch for pull in again for landing in pull.landings if landing.changed]
    assert changed == [f"{first}-2026-11-15"]
    assert lake.holds(dataset="calendar", profile_id=None, source="app", batch=zone.key.replace("/", "."))


@pytest.mark.parametrize(("token", "zones"), [(TOKENS["meta"], True), ("dead", False)])
def test_a_sync_tells_of_no_day_that_is_still_running(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, token: str, zones: bool
) -> None:
    connect(settings, sandbox, token=token)
    pull, _ = sync_kind(settings, lake, "ad_platform", DAYS)
    assert pull.complete_through == pull.through
    assert (pull.zone is not None) == zones
    pull.through = date.max
    before = datetime.now(pull.zone or UTC).date()
    told = pull.complete_through
    assert told is not None
    # the day may end while this runs
    assert before <= told + timedelta(days=1) <= datetime.now(pull.zone or UTC).date()


def test_a_backfill_of_earlier_days_leaves_the_later_ones(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, _ = connect(settings, sandbox)
    sync_kind(settings, lake, "ad_platform", DAYS)
    sync_kind(settings, lake, "ad_platform", DayRange(date(2026, 11, 8), date(2026, 11, 9)))
    days = sorted(batch.batch[-2:] for batch in lake.batches("ad_delivery") if batch.batch.startswith(first))
    assert days == ["08", "09", "10", "11", "12", "13", "14", "15", "16"]
    assert reload(settings, first).synced_through == TODAY


def test_a_backfill_leaves_the_windows_and_breakdowns_of_later_days_of_the_same_week_and_month(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    connect(settings, sandbox)
    sync_kind(settings, lake, "ad_platform", DAYS)
    kept = ("entity_reach", "ad_delivery_breakdowns")
    before = {(name, batch.batch): batch.rows_loaded for name in kept for batch in lake.batches(name)}
    sync_kind(settings, lake, "ad_platform", DayRange(date(2026, 11, 10), date(2026, 11, 10)))
    after = {(name, batch.batch): batch.rows_loaded for name in kept for batch in lake.batches(name)}
    assert after == before
    assert {batch[-10:] for name, batch in after if name == "ad_delivery_breakdowns"} == {"2026-11-09", "2026-11-16"}


def test_a_week_of_which_the_platform_tells_nothing_any_more_is_emptied(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    # its days were, and what its ads had been shown to and where stayed
    connect(settings, sandbox)
    sync_kind(settings, lake, "ad_platform", DAYS)
    world = sandbox.world
    monkeypatch.setattr(
        sandbox.holder, "world", replace(world, deliveries=tuple(row for row in world.deliveries if row.day < TODAY))
    )
    sync_kind(settings, lake, "ad_platform", DAYS)
    kept = {batch.batch[-10:]: batch.rows_loaded for batch in lake.batches("ad_delivery_breakdowns")}
    assert kept.keys() == {"2026-11-09", "2026-11-16"}
    assert (kept["2026-11-09"] > 0, kept["2026-11-16"]) == (True, 0)


def test_breakdowns_are_asked_for_the_newest_four_weeks_only(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, _ = connect(settings, sandbox, synced_through=date(2026, 9, 19))
    sync_kind(settings, lake, "ad_platform", DayRange(date(2026, 9, 20), TODAY))
    weeks = [batch.batch[-10:] for batch in lake.batches("ad_delivery_breakdowns") if batch.batch.startswith(first)]
    assert sorted(weeks) == ["2026-10-19", "2026-10-26", "2026-11-02", "2026-11-09", "2026-11-16"]


def test_a_revoked_connection_waits_for_its_owner_and_the_other_is_pulled(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    revoked, alive = connect(settings, sandbox)
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, revoked).token = "dead"
    pulls = sync_kind(settings, lake, "ad_platform", DAYS)
    assert [pull.failure is not None for pull in pulls] == [True, False]
    one = reload(settings, revoked)
    assert (one.status, one.status_reason, one.synced_at) == ("reconnect_required", "connection_revoked", None)
    assert reload(settings, alive).status == "active"
    assert [pull.connection.id for pull in sync_kind(settings, lake, "ad_platform", DAYS)] == [alive]


# a permission was taken back; or the person behind the token was taken out of the account
@pytest.mark.parametrize("refusal", [{"code": "200"}, {"code": "100", "subcode": 33}])
def test_a_connection_that_needs_action_is_still_asked_and_well_again_when_it_is_let_through(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, refusal: dict[str, Any]
) -> None:
    first, _ = connect(settings, sandbox)
    sandbox.plan({"route": rf"act_{ACCOUNTS[0].id}$", "kind": "code", **refusal})
    sync_kind(settings, lake, "ad_platform", DAYS)
    assert (reload(settings, first).status, reload(settings, first).status_reason) == (
        "needs_action", "permission_missing",
    )  # fmt: skip
    sync_kind(settings, lake, "ad_platform", DAYS)
    assert (reload(settings, first).status, reload(settings, first).status_reason) == ("active", None)


def test_a_refused_pull_leaves_the_connection_active_with_its_reason(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, _ = connect(settings, sandbox)
    sandbox.plan({"route": f"act_{ACCOUNTS[0].id}", "kind": "status", "status": 400, "code": "100", "times": None})
    sync_kind(settings, lake, "ad_platform", DAYS)
    failed = reload(settings, first)
    before = DAYS.first - timedelta(days=1)
    assert (failed.status, failed.status_reason, failed.synced_through) == ("active", "bad_parameter", before)


def test_a_run_pulls_the_demo_by_the_demo_clock(settings: Settings, sandbox: RunningSandbox) -> None:
    connect(settings, sandbox)
    assert pull_range(settings) == DayRange(settings.demo_today - timedelta(days=27), settings.demo_today)


def test_an_account_is_pulled_to_the_day_it_is_there(settings: Settings, sandbox: RunningSandbox) -> None:
    # in Auckland the day was pulled from one in the afternoon on, when it begins in UTC
    east, west = connect(settings, sandbox)
    with transaction(settings.operational_url) as session:
        for id, zone in ((east, "Pacific/Auckland"), (west, "America/Los_Angeles")):
            connection = session.get_one(Connection, id)
            connection.is_sandbox, connection.timezone = False, zone
    found = {id: reload(settings, id) for id in (east, west)}
    for hour, days in ((3, (16, 15)), (20, (17, 16))):
        with time_machine.travel(datetime(2026, 11, 16, hour, tzinfo=UTC), tick=False):
            assert [today(settings, one).day for one in found.values()] == list(days)
            last = pull_range(settings).last
            assert last.day == days[0]
            assert partitions.DAYS.has_partition_key(last.isoformat())
            # what no machine knows as a zone, and stores, go by UTC
            odd = Connection(kind="ad_platform", is_sandbox=False, timezone="Moon/Sea")
            store = Connection(kind="store", is_sandbox=False, timezone="Pacific/Auckland")
            assert [today(settings, one).day for one in (odd, store)] == [16, 16]


def syncs(settings: Settings, connection_id: str) -> list[ConnectionSync]:
    with transaction(settings.operational_url) as session:
        chosen = sa.select(ConnectionSync).where(ConnectionSync.connection_id == connection_id)
        return list(session.scalars(chosen.order_by(ConnectionSync.id)))


def ask(settings: Settings, connection_id: str, **columns: Any) -> None:
    profile_id = reload(settings, connection_id).profile_id
    with transaction(settings.operational_url) as session:
        session.add(ConnectionSync(connection_id=connection_id, profile_id=profile_id, **columns))


def test_a_pull_is_the_sync_that_waits_and_pulls_the_days_it_asks_for(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, second = connect(settings, sandbox)
    ask(settings, first, date_from=date(2026, 11, 7), date_to=date(2026, 11, 8))
    sync_kind(settings, lake, "ad_platform", DAYS)
    (done,) = syncs(settings, first)
    assert (done.status, done.error, done.delivery_through) == ("done", None, TODAY)
    assert done.started_at is not None
    assert done.finished_at is not None
    assert [one.status for one in syncs(settings, second)] == ["done"]
    days = sorted(batch.batch[-2:] for batch in lake.batches("ad_delivery") if batch.batch.startswith(first))
    assert days[0] == "07"


def test_a_pull_that_fails_says_why_and_what_a_dead_run_left_is_over(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, _ = connect(settings, sandbox, token="dead")
    long_ago = datetime.now(UTC) - timedelta(days=31)
    ask(settings, first, status="done", finished_at=long_ago)
    ask(settings, first, status="running")
    sync_kind(settings, lake, "ad_platform", DAYS)
    found = [(one.status, one.error) for one in syncs(settings, first)]
    assert found == [("failed", "abandoned"), ("failed", "connection_revoked")]


def test_what_breaks_in_one_pull_keeps_no_other_from_being_noted(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, second = connect(settings, sandbox)
    with transaction(settings.operational_url) as session:
        # a provider that no pull knows
        session.get_one(Connection, first).provider = "nobody"
    with pytest.raises(KeyError):
        sync_kind(settings, lake, "ad_platform", DayRange(TODAY, TODAY))
    assert [(one.status, one.error) for one in syncs(settings, first)] == [("failed", "abandoned")]
    assert [one.status for one in syncs(settings, second)] == ["done"]
    assert reload(settings, second).synced_through == TODAY
