"""A lake that lost all that files and accounts brought is told before anything is landed beside it, or built."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from api.db import now, transaction
from api.models import Connection, Import, Profile
from orchestration.assets.warehouse import warehouse_assets
from orchestration.definitions import defs
from orchestration.importer import import_file
from orchestration.lake import Lake
from orchestration.lake_owners import LostLakeError, require_its_lake
from orchestration.resources import Deployment as Deployed
from orchestration.resources import Warehouse, dbt
from tests.end_to_end.command import Deployment
from tests.orchestration.test_readers import HEADER, ROW, written
from touchledger.accounts import create_profile
from touchledger.doctor_files import imports
from touchledger.settings import Settings

RESOURCES = {"deployment": Deployed(), "warehouse": Warehouse(), "dbt": dbt()}
TOUCH = {
    "touch_key": "t",
    "occurred_at": "2026-03-01T00:00:00Z",
    "person_key": "p",
    "channel": "web",
    "origin": "web",
}


def imported(profile_id: str) -> Import:
    return Import(
        profile_id=profile_id, scope=profile_id, dataset="touches", file_name="t.csv", sha256="0", status="loaded",
        rows_in=1, rows_loaded=1, rows_quarantined=0,
    )  # fmt: skip


def pulled(profile_id: str) -> Connection:
    return Connection(
        profile_id=profile_id, provider="stripe", kind="payments", display_name="a", external_account_id="a",
        base_url="http://127.0.0.1", token="t", synced_through=date(2026, 3, 1),
    )  # fmt: skip


@pytest.mark.parametrize("made", [imported, pulled])
def test_an_empty_lake_is_refused_where_the_database_knows_of_what_landed(settings: Settings, made: Any) -> None:
    # it was made anew in silence, and the next build published what was left over the figures
    lake, url = Lake(settings.lake), settings.operational_url
    profile_id = create_profile(settings, name="Shop", timezone="UTC", currency="USD")
    lake.prepare()
    require_its_lake(url, lake)
    with transaction(url) as session:
        session.add(made(profile_id))
    land: Any = {"dataset": "touches", "profile_id": profile_id, "batch": "b", "records": [TOUCH]}
    # what was sent here is landed anew by itself, and tells nothing of the rest
    lake.land(**land, source="app")
    with pytest.raises(LostLakeError, match="holds nothing of"):
        require_its_lake(url, lake)
    (finding,) = imports(settings)
    assert (finding.subject, finding.verdict) == ("lake", "fail")
    assert finding.way_out == "put its backup in its place (docs/runbook.md)"
    lake.land(**land, source="file")
    require_its_lake(url, lake)
    shutil.rmtree(lake.root)
    with transaction(url) as session:
        session.get_one(Profile, profile_id).archived_at = now()
    require_its_lake(url, lake)


def test_only_a_file_of_before_is_imported_into_a_lake_that_lost_all(settings: Settings, tmp_path: Path) -> None:
    # the next build took the lake for whole, and published the new file alone over the figures
    lake, url = Lake(settings.lake), settings.operational_url
    profile_id = create_profile(settings, name="Shop", timezone="UTC", currency="USD")
    lake.prepare()
    paths = [written(tmp_path, f"{key}.csv", f"{HEADER}\n{ROW.replace('t1', key)}\n") for key in ("t1", "t2")]
    told: Any = {"dataset": "touches", "profile_id": profile_id}
    earlier = import_file(url, lake, **told, path=paths[0])
    shutil.rmtree(lake.root)
    done = Deployment(settings.home).attempt_here("import", "touches", str(paths[1]), "--profile", profile_id)
    assert (done.returncode, "holds nothing of 1 imported files" in done.stderr) == (1, True)
    assert lake.batches("touches") == []
    assert [import_file(url, lake, **told, path=path).id == earlier.id for path in paths] == [True, False]


def test_every_step_that_lands_erases_or_builds_refuses_a_lake_that_lost_all(settings: Settings) -> None:
    # erasures that were begun alone were over before the files came back with the person, and a build was empty
    profile_id = create_profile(settings, name="Shop", timezone="UTC", currency="USD")
    with transaction(settings.operational_url) as session:
        session.add(imported(profile_id))
    assets = [one for one in defs.assets or [] if isinstance(one, dg.AssetsDefinition)]
    steps = [one for one in assets if {spec.group_name for spec in one.specs} <= {"landing", "erasure"}]
    assert len(steps) == 6
    for step in (*steps, warehouse_assets):
        with pytest.raises(dg.Failure, match="LostLakeError"):
            dg.materialize([step], resources=RESOURCES, partition_key=_newest(step))
    assert not (settings.home / "warehouse.duckdb").exists()


def _newest(step: dg.AssetsDefinition) -> str | None:
    return step.partitions_def.get_last_partition_key() if step.partitions_def else None
