"""What an erasure drops; that nothing of a person is left is shown on a whole shop in tests/end_to_end."""

from __future__ import annotations

import duckdb
import pytest

from data_contracts.contract import landed
from orchestration.erasure import drop_warehouse
from orchestration.lake import Lake
from orchestration.raw_rows import RawRows
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
