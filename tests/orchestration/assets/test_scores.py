"""What the ranker's step says where it cannot begin."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import duckdb
import pytest

from orchestration.assets.scores import ranker, readable_check
from orchestration.resources import Deployment
from orchestration.warehouse_state import end
from tests.factories import ranked_warehouses
from tests.factories.ad_worlds import World
from tests.factories.wear_worlds import WearWorld
from touchledger.settings import Settings


def test_a_damaged_warehouse_is_told_with_the_way_out(home: Path) -> None:
    settings = Settings(home=home)
    end(settings, "1")
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create schema intermediate")
        warehouse.execute("create table intermediate.int_score_history as select i from range(100000) t(i)")
    with settings.warehouse.open("r+b") as file:
        # behind the three heads of the file lies what it holds
        file.seek(3 * 4096)
        file.write(b"x" * (settings.warehouse.stat().st_size - 3 * 4096))
    with pytest.raises(dg.Failure, match=r"DamagedWarehouseError: .*warehouse\.duckdb is damaged .*; remove it, and"):
        dg.materialize([ranker], resources={"deployment": Deployment()})


def test_a_warehouse_of_before_an_upgrade_is_told_with_the_way_out(home: Path) -> None:
    # it ended with "does not have a column named ...", and nothing said that a build was all it takes
    settings = Settings(home=home)
    worlds = World(accounts=1, ads=20, quality=0.5), WearWorld(accounts=1, ads=20, wear=0.12)
    ranked_warehouses.build(settings, worlds[0].history(1), worlds[1].panel(1))
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("alter table intermediate.int_score_history drop column ad_account_id")
    with pytest.raises(dg.Failure, match=r"OtherVersionError: .*; run `touchledger build` first") as told:
        dg.materialize([ranker], resources={"deployment": Deployment()})
    cause = told.value.__cause__
    assert cause is not None and cause.__suppress_context__
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("drop table intermediate.int_score_history_layers")
    with pytest.raises(dg.Failure, match="OtherVersionError"):
        dg.materialize([ranker], resources={"deployment": Deployment()})


def test_a_file_of_the_ranker_that_nobody_can_read_is_told_with_what_mends_it() -> None:
    assert readable_check("").description is None
    told = readable_check("no magic bytes")
    assert (told.passed, told.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "the next run of the job ranking writes the file anew: no magic bytes" in (told.description or "")
