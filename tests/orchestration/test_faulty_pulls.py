"""What a pull lands when its provider fails midway: whole days and lists alone; and all of it once it is well again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pyarrow.parquet as pq
import pytest

from api import db
from api.models import Connection, Profile
from connectors import meta_graph
from connectors.ad_platform import days_of
from orchestration.lake import Lake
from orchestration.partitions import DayRange
from orchestration.sync import sync_kind
from tests.connectors import truths
from tests.connectors.fault_plan import small_sandbox
from tests.connectors.walks import SYNC_SINCE, meta_ads_account, small_pages
from tests.factories import accounts, connected
from tests.fixtures.sandbox import TODAY, RunningSandbox
from touchledger.settings import Settings


@pytest.fixture(scope="module")
def small() -> Iterator[RunningSandbox]:
    with small_pages(), small_sandbox() as running:
        yield running


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


@pytest.fixture
def profile(settings: Settings) -> Profile:
    return accounts.profile(settings.operational_url)


def landed(lake: Lake, dataset: str) -> list[dict[str, Any]]:
    return [row for batch in lake.batches(dataset) for row in pq.read_table(batch.path).to_pylist()]


def pulled(settings: Settings, lake: Lake, connection: Connection) -> Connection:
    """The connection after a pull of its kind; it may be asked again, as its owner sees to it by connecting it anew."""
    sync_kind(settings, lake, connection.kind, DayRange(SYNC_SINCE, TODAY))
    with db.transaction(settings.operational_url) as session:
        found = session.get_one(Connection, connection.id)
        session.expunge(found)
    with db.transaction(settings.operational_url) as session:
        again = session.get_one(Connection, connection.id)
        again.status, again.token = "active", connection.token
    return found


def delivered(lake: Lake) -> dict[date, truths.Figures]:
    """Landed deliveries by day of their batch."""
    found: dict[date, truths.Figures] = {}
    for batch in lake.batches("ad_delivery"):
        day = date.fromisoformat(batch.batch[-10:])
        found[day] = truths.delivered([(day, pq.read_table(batch.path).to_pylist())])
    return found


def test_an_ad_platform_that_fails_midway_leaves_whole_days_and_the_next_pull_the_rest(
    settings: Settings, small: RunningSandbox, lake: Lake, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = SYNC_SINCE - timedelta(days=1)
    connection = connected.to_meta(settings.operational_url, profile, small.url, synced_through=before)
    # the reach of a whole month has many rows
    monkeypatch.setattr(meta_graph, "PAGE", 500)
    small.plan({"route": "/insights$", "after": 1, "times": None, "kind": "revoked"})
    failed = pulled(settings, lake, connection)
    truth = {
        day: truths.true_delivery(small.world, meta_ads_account(), day, day) for day, _ in days_of(SYNC_SINCE, TODAY)
    }
    whole = delivered(lake)
    assert (failed.status_reason, failed.synced_at) == ("connection_revoked", None)
    assert 0 < len(whole) < len(truth) and whole == {day: truth[day] for day in whole}
    assert failed.synced_through == max(whole)
    small.plan()
    well = pulled(settings, lake, connection)
    assert delivered(lake) == truth
    assert (well.status_reason, well.synced_through, well.synced_at is None) == (None, TODAY, False)


@pytest.mark.parametrize(("after", "has_products"), [(1, False), (4, True)], ids=["catalogue", "orders"])
def test_a_store_that_fails_midway_lands_whole_lists_alone_and_all_of_it_with_the_next_pull(
    settings: Settings, small: RunningSandbox, lake: Lake, profile: Profile, after: int, has_products: bool
) -> None:
    connection = connected.to_store(settings.operational_url, profile, small.url)
    small.plan({"route": "/graphql.json$", "after": after, "times": None, "kind": "throttled", "wait": 3600})
    failed = pulled(settings, lake, connection)
    assert (failed.status_reason, failed.synced_through) == ("throttled", None)
    products = {row["product_id"] for row in landed(lake, "products")}
    assert landed(lake, "orders") == []
    small.plan()
    assert pulled(settings, lake, connection).synced_through == TODAY
    assert truths.ordered(landed(lake, "orders")) == truths.true_orders(small.world.orders)
    assert products == ({row["product_id"] for row in landed(lake, "products")} if has_products else set())


def test_a_store_that_keeps_its_orders_back_brings_its_products(
    settings: Settings, small: RunningSandbox, lake: Lake, profile: Profile
) -> None:
    """An app that Shopify did not approve for orders had no product in any answer either."""
    connection = connected.to_store(settings.operational_url, profile, small.url)
    refused = {"kind": "code", "status": 200, "code": "ACCESS_DENIED"}
    small.plan({"route": "/graphql.json$", "after": 4, "times": None, **refused})
    failed = pulled(settings, lake, connection)
    assert (failed.status, failed.status_reason) == ("needs_action", "permission_missing")
    assert (failed.synced_through, landed(lake, "orders")) == (None, [])
    products = landed(lake, "products")
    assert {row["product_id"] for row in products} == {str(one.id) for one in small.world.products}
    # and the next pull asks for all of it again, in place of what is there
    pulled(settings, lake, connection)
    assert len(landed(lake, "products")) == len(products)
    small.plan()


@pytest.mark.parametrize(
    ("status", "reason"),
    [(402, "shop_frozen"), (423, "shop_locked"), (404, "shop_not_found"), (403, "permission_missing")],
)
def test_a_store_that_its_provider_suspended_needs_action_until_it_answers_again(
    settings: Settings, small: RunningSandbox, lake: Lake, profile: Profile, status: int, reason: str
) -> None:
    # its owner has bills to pay, and the connection was told as active like one that works
    connection = connected.to_store(settings.operational_url, profile, small.url)
    small.plan({"route": "/graphql.json$", "kind": "status", "status": status})
    sync_kind(settings, lake, "store")
    told = connected.reload(settings.operational_url, connection)
    assert (told.status, told.status_reason) == ("needs_action", reason)
    sync_kind(settings, lake, "store")
    told = connected.reload(settings.operational_url, connection)
    assert (told.status, told.status_reason, told.synced_through) == ("active", None, TODAY)


def test_payments_that_fail_midway_land_nothing_and_all_of_it_with_the_next_pull(
    settings: Settings, small: RunningSandbox, lake: Lake, profile: Profile
) -> None:
    connection = connected.to_payments(settings.operational_url, profile, small.url)
    small.plan({"route": "/v1/refunds$", "times": None, "kind": "shape"})
    failed = pulled(settings, lake, connection)
    assert (failed.status_reason, failed.synced_through) == ("malformed", None)
    assert landed(lake, "conversions") == []
    small.plan()
    assert pulled(settings, lake, connection).synced_through == TODAY
    rows = landed(lake, "conversions")
    assert truths.taken(rows) == truths.true_payments(small.world)
    assert truths.given_back(rows) == truths.true_refunds(small.world)
