"""No day is missed for ever: an account that is behind brings what it lacks, and no other account repeats its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta

import dagster as dg
import pytest

from api.db import transaction
from api.models import Connection
from connectors.ad_platform import Row, Window
from connectors.errors import Throttled
from connectors.meta_ads import MetaAds
from orchestration.assets.raw_ad_platform import landing_ad_platform
from orchestration.gathered import gather
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.resources import Deployment
from orchestration.sync import pull_range, sync_kind
from sandbox.ad_catalogue import ACCOUNTS
from tests.fixtures.sandbox import TODAY, RunningSandbox
from tests.orchestration.test_sync import DAYS, ask, connect, reload, syncs
from touchledger.settings import Settings


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


def days_of(lake: Lake, connection_id: str) -> list[date]:
    """The days of delivery that are landed, in order."""
    found = [batch.batch for batch in lake.batches("ad_delivery") if batch.batch.startswith(connection_id)]
    return sorted(date.fromisoformat(batch[-10:]) for batch in found)


def every_day(first: date) -> list[date]:
    return [first + timedelta(days=count) for count in range((TODAY - first).days + 1)]


def months_of(lake: Lake, connection_id: str) -> list[str]:
    """The months of reach that are landed, in order."""
    return sorted(one.batch[-7:] for one in lake.batches("entity_reach") if one.batch.startswith(connection_id))


def test_an_account_connected_after_a_run_was_asked_for_brings_its_history(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    short = settings.model_copy(update={"demo_days": 30})
    first, _ = connect(short, sandbox, synced_through=None)
    ask(short, first)
    sync_kind(short, lake, "ad_platform", DayRange(date(2026, 11, 14), TODAY))
    assert days_of(lake, first) == every_day(TODAY - timedelta(days=29))
    assert (reload(settings, first).synced_through, syncs(settings, first)[0].status) == (TODAY, "done")


def test_an_account_whose_days_were_noted_under_a_clock_that_was_ahead_brings_its_history_again(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    short = settings.model_copy(update={"demo_days": 30})
    first, second = connect(short, sandbox, synced_through=TODAY + timedelta(days=365))
    with transaction(settings.operational_url) as session:
        # where it is tomorrow already, and the account's zone was not known yet
        session.get_one(Connection, second).synced_through = TODAY + timedelta(days=1)
    sync_kind(short, lake, "ad_platform", DayRange(TODAY, TODAY))
    assert days_of(lake, first) == every_day(TODAY - timedelta(days=29))
    assert days_of(lake, second) == [TODAY]
    assert reload(settings, first).synced_through == TODAY


def test_a_day_pulled_on_its_own_leaves_no_gap_behind(settings: Settings, sandbox: RunningSandbox, lake: Lake) -> None:
    first, _ = connect(settings, sandbox)
    sync_kind(settings, lake, "ad_platform", DayRange(TODAY, TODAY))
    assert days_of(lake, first) == every_day(DAYS.first - timedelta(days=28))


def test_an_account_that_is_refused_does_not_make_the_others_repeat_their_history(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    refused, healthy = connect(settings, sandbox)
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, refused).synced_through = None
    sandbox.plan({"route": rf"act_{ACCOUNTS[0].id}$", "kind": "code", "code": "200", "times": None})
    sync_kind(settings, lake, "ad_platform", DAYS)
    pulls = sync_kind(settings, lake, "ad_platform", pull_range(settings, revised_days=3))
    assert [pull.failure is not None for pull in pulls] == [True, False]
    assert pulls[1].delivered == every_day(TODAY - timedelta(days=2))
    assert reload(settings, healthy).synced_through == TODAY


def test_reach_that_was_refused_is_asked_for_again_and_delivery_does_not_wait_for_it(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = connect(settings, sandbox, synced_through=date(2026, 10, 1))
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, second).status = "disconnected"
    # the newest month comes, the one before it does not
    real = MetaAds.reach

    def throttled(self: MetaAds, windows: Iterable[Window]) -> Iterator[Row]:
        if min(since for since, _ in windows).month < 10:
            raise Throttled("meta", "too many calls", wait=3600.0)
        return real(self, windows)

    with monkeypatch.context() as patched:
        patched.setattr(MetaAds, "reach", throttled)
        (failed,) = sync_kind(settings, lake, "ad_platform", DAYS)
    assert failed.failure is not None
    assert (failed.failure.reason, failed.through) == ("throttled", TODAY)
    assert months_of(lake, first) == ["2026-11"]
    # days of September have no file of their own any more
    assert len(gather(lake.root)) == 1
    sync_kind(settings, lake, "ad_platform", DayRange(TODAY, TODAY))
    assert months_of(lake, first) == ["2026-09", "2026-10", "2026-11"]
    (again,) = sync_kind(settings, lake, "ad_platform", DayRange(TODAY, TODAY))
    assert [one.batch[-7:] for one in again.landings if one.dataset == "entity_reach"] == ["2026-11"]


def test_a_month_whose_last_days_of_reach_did_not_come_is_asked_for_again_once_it_is_over(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    first, second = connect(settings, sandbox, synced_through=date(2026, 10, 19))
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, second).status = "disconnected"
    october = settings.model_copy(update={"demo_today": date(2026, 10, 20)})
    sync_kind(october, lake, "ad_platform", DayRange(date(2026, 10, 20), date(2026, 10, 20)))
    with transaction(settings.operational_url) as session:
        session.get_one(Connection, first).synced_through = TODAY
    for asked in (["2026-11", "2026-10"], ["2026-11"]):
        (pull,) = sync_kind(settings, lake, "ad_platform", DayRange(TODAY, TODAY))
        assert [one.batch[-7:] for one in pull.landings if one.dataset == "entity_reach"] == asked


def test_days_that_an_account_brings_beside_a_runs_own_are_told_as_partitions(
    settings: Settings, sandbox: RunningSandbox, lake: Lake
) -> None:
    connect(settings, sandbox)
    # without any file the lake would count as lost
    lake.land(dataset="campaigns", profile_id="p", source="meta", batch="before", records=[])
    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize(
            [landing_ad_platform],
            resources={"deployment": Deployment()},
            instance=instance,
            tags=DayRange(TODAY, TODAY).tags,
        )
        told = instance.get_materialized_partitions(landing_ad_platform.key)
    assert run.success
    assert sorted(map(date.fromisoformat, told)) == every_day(DAYS.first - timedelta(days=28))
