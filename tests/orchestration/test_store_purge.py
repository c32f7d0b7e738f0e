"""A store that has to be forgotten: its files go, what others brought stays, and older snapshots are dropped."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from api.db import transaction
from api.hooks import store_effects
from api.models import Connection, IngestedRecord, Profile, StoreDelivery, StorePurge
from orchestration.ingested import land_ingested
from orchestration.lake import Lake
from orchestration.store_purge import complete_stores, forget_stores
from tests.factories import accounts, served
from tests.factories.connected import to_store
from touchledger.settings import Settings

AT = datetime(2026, 6, 1, tzinfo=UTC)


def product(number: str) -> dict[str, str]:
    row = {"connection_ref": "alder-finch", "title": "Boots", "status": "active", "currency": "USD"}
    return {**row, "product_id": number, "updated_at": "2026-05-01T00:00:00Z"}


def test_what_a_forgotten_store_brought_leaves_the_lake_and_nothing_else_does(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    gone = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    stays = to_store(settings.operational_url, profile, "http://127.0.0.1:9", external_account_id="other")
    lake = Lake(settings.lake)
    lake.prepare()
    for source, batch in (
        ("shopify", gone.id),
        ("shopify", f"{gone.id}-since-2026-05-01"),
        ("shopify", f"gathered.{gone.id}.{stays.id}"),
        ("shopify", stays.id),
        ("file", "f"),
    ):
        lake.land(
            dataset="products", profile_id=profile.id, source=source, batch=batch, records=[product("1"), {}], now=AT
        )
    assert forget_stores(settings, lake) == []
    with transaction(settings.operational_url) as unit:
        unit.add(StorePurge(connection_id=gone.id))
    settings.warehouse.touch()
    assert forget_stores(settings, lake) == [gone.id]
    left = {path.name.partition(".")[0] for root in (lake.raw, lake.quarantine) for path in root.rglob("*.parquet")}
    assert {name for name in left if not name.startswith("_")} == {stays.id, "f"}
    assert not settings.warehouse.exists()
    for number in ("1", "2"):
        served.publish(settings.published, {}, snapshot_id=number)
    assert complete_stores(settings) == [gone.id]
    assert [path.name for path in settings.published.glob("served-*.duckdb")] == ["served-2.duckdb"]
    assert (forget_stores(settings, lake), complete_stores(settings)) == ([], [])
    # a pull that had begun before
    late = {
        "dataset": "products",
        "profile_id": profile.id,
        "source": "shopify",
        "batch": f"{gone.id}-since-2026-06-01",
    }
    landed = lake.land(**late, records=[product("2")], now=AT)
    assert forget_stores(settings, lake) == [gone.id]
    assert not landed.path.exists()
    assert complete_stores(settings) == [gone.id]


def test_a_store_is_not_noted_as_gone_before_the_warehouse_is(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    gone = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    lake = Lake(settings.lake)
    lake.prepare()
    with transaction(settings.operational_url) as unit:
        unit.add(StorePurge(connection_id=gone.id))
        unit.execute(
            sa.text(
                "create trigger stop before update of files_removed_at on store_purges"
                " when new.files_removed_at is not null begin select raise(abort, 'the machine stopped'); end"
            )
        )
    settings.warehouse.touch()
    with pytest.raises(sa.exc.IntegrityError, match="the machine stopped"):
        forget_stores(settings, lake)
    assert not settings.warehouse.exists()


def test_a_store_is_forgotten_only_once_no_older_snapshot_is_left(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    gone = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    with transaction(settings.operational_url) as unit:
        unit.add(StorePurge(connection_id=gone.id, files_removed_at=AT))
    for number in ("1", "2"):
        served.publish(settings.published, {}, snapshot_id=number)
    with served.unreadable_pointer(settings.published), pytest.raises(OSError):
        complete_stores(settings)
    with transaction(settings.operational_url) as unit:
        assert unit.scalars(sa.select(StorePurge)).one().completed_at is None
    assert complete_stores(settings) == [gone.id]
    assert [path.name for path in settings.published.glob("served-*.duckdb")] == ["served-2.duckdb"]


def deleted(settings: Settings, profile: Profile, store: Connection, kind: str, number: str) -> None:
    """The store tells that it deleted this product or order, and the worker has acted on it."""
    with transaction(settings.operational_url) as unit:
        of = {"profile_id": profile.id, "connection_id": store.id, "delivery_id": f"{kind}-{number}"}
        unit.add(StoreDelivery(**of, topic=f"{kind}s/delete", occurred_at=AT, facts={f"{kind}_id": number}))
    store_effects.settle_due(settings)


def test_what_a_forgotten_store_deleted_goes_with_it_and_what_other_stores_did_stays(settings: Settings) -> None:
    profile = accounts.profile(settings.operational_url)
    gone = to_store(settings.operational_url, profile, "http://127.0.0.1:9")
    stays = to_store(settings.operational_url, profile, "http://127.0.0.1:9", external_account_id="other")
    lake = Lake(settings.lake)
    lake.prepare()
    for store, number in ((gone, "1"), (stays, "2")):
        deleted(settings, profile, store, "product", number)
        deleted(settings, profile, store, "order", number)
    land_ingested(settings.operational_url, lake)
    deleted(settings, profile, gone, "product", "3")
    with transaction(settings.operational_url) as unit:
        unit.add(StorePurge(connection_id=gone.id))
    assert forget_stores(settings, lake) == [gone.id]
    land_ingested(settings.operational_url, lake)
    for kind in ("product", "order"):
        files = (lake.raw / f"{kind}s" / profile.id).rglob("*.parquet")
        assert [number for path in files for number in pq.read_table(path)[f"{kind}_id"].to_pylist()] == ["2"]
    with transaction(settings.operational_url) as unit:
        left = [(row.dataset, row.record["connection_ref"]) for row in unit.scalars(sa.select(IngestedRecord))]
    assert sorted(left) == [("orders", "other"), ("products", "other")]
