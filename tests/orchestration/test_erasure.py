"""What an erasure drops; that nothing of a person is left is shown on a whole shop in tests/end_to_end."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from api import db
from api.erased import digest
from api.erased_records import remember
from api.models import ErasedIdentifier, Erasure, Purge
from api.warehouse_ids import identifier_id
from data_contracts.contract import landed
from orchestration import spark_run
from orchestration.erasure import (
    _found,
    _take_rejected,
    complete_erasures,
    drop_warehouse,
)
from orchestration.lake import Lake
from orchestration.purge import complete_purges
from orchestration.raw_rows import RawRows
from tests.factories import accounts, served
from tests.factories.deployments import settings_of
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


def test_what_a_killed_run_on_spark_left_goes_though_duckdb_builds_now(settings: Settings) -> None:
    left = spark_run.folder(settings) / "warehouse" / "int_person_identifiers" / "part-0.parquet"
    left.parent.mkdir(parents=True)
    left.write_text("ann@example.com")
    drop_warehouse(settings)
    assert not spark_run.folder(settings).exists()


def test_an_erasure_does_not_end_over_what_cannot_be_removed_of_a_run_on_spark(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it was completed, and people stayed where workers that run as another user had written them
    monkeypatch.setattr(spark_run, "ENDING_SECONDS", 0.0)
    spark_run.folder(settings).symlink_to(settings.home, target_is_directory=True)
    with pytest.raises(spark_run.LeftBehindError, match=f"^{spark_run.folder(settings)} holds people"):
        drop_warehouse(settings)


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


def people_of(settings: Settings, profile_id: str, known: str, shared: str = "false") -> None:
    """A warehouse that knows these people: `known` selects kind, value and person of each identifier."""
    with duckdb.connect(str(settings.warehouse)) as connection:
        connection.execute("create schema intermediate")
        connection.execute(
            "create table intermediate.int_profiles as select 1 as profile_key, ? as profile_id", [profile_id]
        )
        connection.execute(
            "create table intermediate.int_person_identifiers as"
            f" select 1 as profile_key, *, {shared} as is_shared from ({known}) as told(kind, value, person_key)"
        )


def test_a_person_is_found_among_many_of_whom_few_are_held_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestration.erasure.ROWS_AT_ONCE", 100)
    url, profile = settings.operational_url, accounts.profile(settings.operational_url)
    ann = digest(settings.signing_key(), identifier_id(profile.id, "email", "7@example.com"))
    people_of(
        settings,
        profile.id,
        "select kind, range || '@example.com' as value, range as person_key"
        " from range(20000), unnest(['email', 'external_id']) as kinds(kind)",
    )
    erasure = Erasure(profile_id=profile.id, reason="other", counts={}, due_at=db.now(), secret="5e" * 32)
    with db.transaction(url) as session:
        session.add(erasure)
        session.flush()
        session.add(ErasedIdentifier(profile_id=profile.id, digest=ann, erasure_id=erasure.id))
    tracemalloc.start()
    try:
        found = _found(settings, erasure)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.values == {"email": ["7@example.com"], "external_id": ["7@example.com"]}
    assert most < 2_000_000


@pytest.mark.parametrize("shared", ["value = 'device'", "false"])
def test_somebody_to_whom_a_device_fell_since_it_was_asked_for_stays(settings: Settings, shared: str) -> None:
    # a file of the day before named Bob on the device, which had been Ann's: he was erased in whole
    url, profile = settings.operational_url, accounts.profile(settings.operational_url)
    ann = "('email', 'ann@example.com', 1), ('external_id', 'crm-ann', 1)"
    known = f"values {ann}, ('email', 'bob@example.com', 2), ('anonymous_id', 'device', 2)"
    people_of(settings, profile.id, known, shared)
    erasure = Erasure(profile_id=profile.id, reason="other", counts={}, due_at=db.now(), secret="5e" * 32)
    asked = [("email", "ann@example.com"), ("anonymous_id", "device")]
    ids = [identifier_id(profile.id, *one) for one in asked]
    with db.transaction(url) as session:
        session.add(erasure)
        session.flush()
        remember(session, settings.signing_key(), profile_id=profile.id, erasure_id=erasure.id, ids=ids)
    found = _found(settings, erasure)
    assert found.values == {"email": ["ann@example.com"], "external_id": ["crm-ann"], "anonymous_id": ["device"]}
    assert not found.person.owns("email", "bob@example.com")
    assert not found.person.speaks({"email": "bob@example.com", "anonymous_id": "device"})


def test_an_identifier_that_only_a_rejected_record_tells_is_taken_for_the_persons_unless_somebody_has_it(
    settings: Settings,
) -> None:
    url, profile = settings.operational_url, accounts.profile(settings.operational_url)
    lake = Lake(settings.lake)
    lake.prepare()
    rejected = {"touch_key": "t", "email": "ann@example.com", "phone": "+14155550123", "external_id": "crm-bob"}
    lake.land(dataset="touches", profile_id=profile.id, source="file", batch="b", records=[rejected])
    people_of(settings, profile.id, "values ('email', 'ann@example.com', 1), ('external_id', 'crm-bob', 2)")
    erasure = Erasure(profile_id=profile.id, reason="other", counts={}, due_at=db.now(), secret="5e" * 32)
    with db.transaction(url) as session:
        session.add(erasure)
        session.flush()
        ann = identifier_id(profile.id, "email", "ann@example.com")
        remember(session, settings.signing_key(), profile_id=profile.id, erasure_id=erasure.id, ids=[ann])
    found = _found(settings, erasure)
    _take_rejected(settings, lake, found)
    assert found.values == {"email": ["ann@example.com"], "phone": ["+14155550123"]}
    assert found.person.owns("phone", "+14155550123")
    assert not found.person.owns("external_id", "crm-bob")
    # wherever they stand in what others said
    noted = found.person.text("ann@example.com, call 14155550123, or crm-bob")
    assert "ann@" not in noted and "14155550123" not in noted and noted.endswith("or crm-bob")


def test_an_erasure_and_a_purge_are_completed_on_either_database(home: Path, database_url: str) -> None:
    # Postgres refused to write its tables anew within a transaction: every such run failed once it had published
    settings, profile = settings_of(home, database_url), accounts.profile(database_url)
    asked = {"profile_id": profile.id, "reason": "other", "counts": {}, "due_at": db.now(), "secret": "5e"}
    with db.transaction(database_url) as session:
        session.add(Erasure(status="processing", rewritten_at=db.now(), **asked))
        session.add(Purge(profile_id=profile.id, requested_at=db.now(), files_removed_at=db.now()))
    assert (len(complete_erasures(settings)), complete_purges(settings)) == (1, [profile.id])
    with db.transaction(database_url) as session:
        assert session.scalars(sa.select(Erasure.status)).all() == ["completed"]
    # the connection goes back to the pool, where the next one who takes it begins transactions
    with pytest.raises(ValueError, match="undone"), db.transaction(database_url) as session:
        session.execute(sa.update(Erasure).values(status="failed"))
        raise ValueError("undone")
    with db.transaction(database_url) as session:
        assert session.scalars(sa.select(Erasure.status)).all() == ["completed"]
