"""What an erasure drops; that nothing of a person is left is shown on a whole shop in tests/end_to_end."""

from __future__ import annotations

import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from api import db
from api.erased import digest
from api.models import ErasedIdentifier, Erasure, Purge
from api.warehouse_ids import identifier_id
from data_contracts.contract import landed
from orchestration.erasure import StillReadError, _found, complete_erasures, drop_warehouse
from orchestration.lake import Lake
from orchestration.purge import complete_purges
from orchestration.raw_rows import RawRows
from tests.factories import accounts, served
from tests.factories.deployments import settings_of
from tests.fixtures.postgres import create_database
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


def test_a_person_is_found_among_many_of_whom_few_are_held_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestration.erasure.ROWS_AT_ONCE", 100)
    url, profile = settings.operational_url, accounts.profile(settings.operational_url)
    ann = digest(settings.signing_key(), identifier_id(profile.id, "email", "7@example.com"))
    with duckdb.connect(str(settings.warehouse)) as connection:
        connection.execute("create schema intermediate")
        connection.execute(
            "create table intermediate.int_profiles as select 1 as profile_key, ? as profile_id", [profile.id]
        )
        connection.execute(
            "create table intermediate.int_person_identifiers as select 1 as profile_key, kind, range as person_key,"
            " range || '@example.com' as value, false as is_shared"
            " from range(20000), unnest(['email', 'external_id']) as kinds(kind)"
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


def test_an_erasure_is_completed_only_once_nobody_reads_the_database_as_it_was(settings: Settings) -> None:
    # the log was not carried over while a backup read, and the erasure was told as completed all the same
    url, profile = settings.operational_url, accounts.profile(settings.operational_url)
    asked = {"profile_id": profile.id, "reason": "other", "counts": {}, "due_at": db.now(), "secret": "5e"}
    with db.transaction(url) as session:
        session.add(Erasure(status="processing", rewritten_at=db.now(), reference="canary@example.com", **asked))
    file = Path(url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(file, isolation_level=None)) as backup:
        backup.execute("begin")
        backup.execute("select count(*) from erasures").fetchall()
        with db.transaction(url) as session:
            session.execute(sa.update(Erasure).values(reference=None))
        with db.engine_for(url).connect() as connection:
            # it is not to wait for ten seconds here
            connection.exec_driver_sql("pragma busy_timeout = 100")
        with pytest.raises(StillReadError):
            complete_erasures(settings)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Erasure.status)).all() == ["processing"]
    assert len(complete_erasures(settings)) == 1
    kept = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    assert b"canary@example.com" not in kept


def test_nobody_waits_behind_an_erasure_that_waits_for_a_dump_of_postgres(
    home: Path, postgres_server: str, postgres_template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a dump holds every table to its end; whoever came to one after the erasure waited behind both
    monkeypatch.setattr("orchestration.erasure.PATIENCE_MILLISECONDS", 200)
    url = create_database(postgres_server, "dumped", template=postgres_template)
    settings, profile = settings_of(home, url), accounts.profile(url)
    asked = {"profile_id": profile.id, "reason": "other", "counts": {}, "due_at": db.now(), "secret": "5e"}
    with db.transaction(url) as session:
        session.add(Erasure(status="processing", rewritten_at=db.now(), **asked))
    with db.transaction(url) as dump:
        dump.execute(sa.text("lock table ingested_records in access share mode"))
        with pytest.raises(StillReadError):
            complete_erasures(settings)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Erasure.status)).all() == ["processing"]
        assert session.scalar(sa.text("show lock_timeout")) == "0"
    assert len(complete_erasures(settings)) == 1
    db.close_engines(url)
