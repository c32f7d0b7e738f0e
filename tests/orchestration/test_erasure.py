"""What an erasure drops; that nothing of a person is left is shown on a whole shop in tests/end_to_end."""

from __future__ import annotations

import duckdb
import pytest
import sqlalchemy as sa

from api import db
from api.models import Erasure
from data_contracts.contract import landed
from orchestration.erasure import complete_erasures, drop_warehouse
from orchestration.lake import Lake
from orchestration.raw_rows import RawRows
from tests.factories import accounts, served
from touchledger.settings import Settings

SPILLED = "duckdb_temp_1_0_storage_DEFAULT-0.tmp"


@pytest.mark.parametrize("name", ["warehouse.duckdb", "building-warehouse.duckdb"])
def test_nothing_that_a_killed_build_left_outlives_the_warehouse(settings: Settings, name: str) -> None:
    with duckdb.connect(str(settings.home / name)) as connection:
        connection.execute("create table people as select 'ann@example.com' as email")
    for ending in (".wal", ".wal.checkpoint", ".wal.recovery", f".tmp/{SPILLED}"):
        path = settings.home / f"{name}{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_text("ann@example.com")
    drop_warehouse(settings)
    assert list(settings.home.glob(f"{name}*")) == []


def test_what_a_killed_check_spilled_goes_and_later_checks_still_have_their_folder(settings: Settings) -> None:
    Lake(settings.lake).prepare()
    spilled = settings.home / "raw.tmp" / SPILLED
    spilled.parent.mkdir()
    spilled.write_text("ann@example.com")
    drop_warehouse(settings)
    assert not spilled.exists()
    # DuckDB makes the folder when it first spills into it, and never again
    assert spilled.parent.exists()
    assert RawRows(settings, landed()["touches"]).is_empty


def test_an_erasure_is_completed_only_once_no_older_snapshot_is_left(settings: Settings) -> None:
    url, profile = settings.operational_url, accounts.profile(settings.operational_url)
    done = {"profile_id": profile.id, "reason": "other", "counts": {}, "due_at": db.now(), "secret": "5e"}
    with db.transaction(url) as session:
        session.add(Erasure(status="processing", rewritten_at=db.now(), **done))
    served.publish(settings.published, {}, token=1, snapshot_id="1")
    with served.unreadable_pointer(settings.published), pytest.raises(OSError):
        complete_erasures(settings)
    with db.transaction(url) as session:
        (left,) = session.scalars(sa.select(Erasure))
        assert (left.status, left.completed_at, left.secret) == ("processing", None, None)
    served.publish(settings.published, {}, token=2, snapshot_id="2")
    assert complete_erasures(settings) == [left.id]
    assert [path.name for path in settings.published.glob("served-*.duckdb")] == ["served-2.duckdb"]
    with db.transaction(url) as session:
        assert session.get_one(Erasure, left.id).status == "completed"
    assert complete_erasures(settings) == []
