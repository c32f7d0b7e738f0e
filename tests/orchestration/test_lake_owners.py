"""A lake that lost all that files and accounts brought is told before anything is landed beside it, or built."""

from __future__ import annotations

import shutil
from datetime import date
from typing import Any

import pytest

from api.db import now, transaction
from api.models import Connection, Import, Profile
from orchestration.lake import Lake
from orchestration.lake_owners import LostLakeError, require_its_lake
from touchledger.accounts import create_profile
from touchledger.doctor_files import imports
from touchledger.settings import Settings

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
