"""A variant that a store deleted: no delivery tells of it, and its product's list is without it from then on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pyarrow.parquet as pq
import pytest

from api import db
from api.models import Connection, Profile
from orchestration.lake import Lake
from orchestration.sync import sync_kind
from sandbox.app import create_sandbox
from sandbox.clock import epoch
from sandbox.money import Product
from sandbox.shopify import Bucket
from sandbox.world import World, WorldHolder
from tests.factories import accounts, connected
from tests.fixtures.sandbox import TODAY, RunningSandbox, served
from touchledger.settings import Settings


@pytest.fixture
def lake(settings: Settings) -> Lake:
    lake = Lake(settings.lake)
    lake.prepare()
    return lake


@pytest.fixture
def profile(settings: Settings) -> Profile:
    return accounts.profile(settings.operational_url)


def selling(world: World, product: Product) -> World:
    """The world with one product as it is now, changed today."""
    changed = replace(product, updated_at=epoch(TODAY))
    products = tuple(changed if one.id == product.id else one for one in world.products)
    return replace(world, journeys=replace(world.journeys, products=products))


def pull(settings: Settings, lake: Lake, connection: Connection, world: World, *, days_later: int = 0) -> None:
    with served(create_sandbox(WorldHolder(world), Bucket(maximum=1e9))) as url:
        with db.transaction(settings.operational_url) as session:
            session.get_one(Connection, connection.id).base_url = f"{url}/shopify"
        then = settings.model_copy(update={"demo_today": TODAY + timedelta(days=days_later)})
        (pulled,) = sync_kind(then, lake, "store")
    assert pulled.failure is None


def told(lake: Lake) -> set[str]:
    """The variants that the lake tells of, by what landed last of each."""
    rows = [row for batch in lake.batches("variants") for row in pq.read_table(batch.path).to_pylist()]
    newest = {row["variant_id"]: row["_deleted"] for row in rows}
    return {number for number, is_gone in newest.items() if not is_gone}


def variants(world: World) -> set[str]:
    return {str(one.id) for product in world.products for one in product.variants}


def test_a_variant_that_its_product_lists_no_more_is_withdrawn_until_it_is_listed_again(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, profile: Profile
) -> None:
    connection = connected.to_store(settings.operational_url, profile, sandbox.url)
    pull(settings, lake, connection, sandbox.world)
    assert told(lake) == variants(sandbox.world)
    product = sandbox.world.products[0]
    fewer = selling(sandbox.world, replace(product, variants=product.variants[1:]))
    # what comes again on the same day replaces what said so, and says it too
    for days_later in (0, 0, 1):
        pull(settings, lake, connection, fewer, days_later=days_later)
        assert told(lake) == variants(fewer) == variants(sandbox.world) - {str(product.variants[0].id)}
    pull(settings, lake, connection, selling(sandbox.world, product), days_later=2)
    assert told(lake) == variants(sandbox.world)


def test_a_store_that_is_connected_anew_tells_of_what_it_deleted_meanwhile(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, profile: Profile
) -> None:
    before = connected.to_store(settings.operational_url, profile, sandbox.url)
    pull(settings, lake, before, sandbox.world)
    with db.transaction(settings.operational_url) as session:
        session.get_one(Connection, before.id).status = "disconnected"
    product = sandbox.world.products[0]
    fewer = selling(sandbox.world, replace(product, variants=product.variants[1:]))
    pull(settings, lake, connected.to_store(settings.operational_url, profile, sandbox.url), fewer)
    assert told(lake) == variants(fewer)


def test_days_on_which_a_store_changed_nothing_leave_no_files(
    settings: Settings, sandbox: RunningSandbox, lake: Lake, profile: Profile
) -> None:
    connection = connected.to_store(settings.operational_url, profile, sandbox.url)
    old = [replace(one, updated_at=epoch(TODAY - timedelta(days=60))) for one in sandbox.world.products]
    quiet = replace(sandbox.world, journeys=replace(sandbox.world.journeys, products=tuple(old)))
    counts = []
    for world in (quiet, selling(quiet, old[0]), quiet):
        pull(settings, lake, connection, world)
        counts.append(lake.batches("products")[-1].rows_loaded)
    # what the same days told before is emptied all the same
    assert counts == [len(old), 1, 0]
    pull(settings, lake, connection, sandbox.world, days_later=30)
    before = sorted(lake.raw.rglob("*.parquet"))
    pull(settings, lake, connection, sandbox.world, days_later=31)
    assert sorted(lake.raw.rglob("*.parquet")) == before
