"""Nothing that was deleted stays in the files of the database, and nobody is told so before it is true."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db
from api.models import Erasure, StoreDelivery
from orchestration.erasure import complete_erasures
from orchestration.written_anew import StillReadError, UnownedTableError, compact
from tests.factories import accounts, exports
from tests.factories.deployments import settings_of
from tests.fixtures.postgres import create_database, drop_database
from touchledger.settings import Settings


def test_the_database_is_written_anew_without_what_was_there(database_url: str) -> None:
    profile, at = accounts.profile(database_url), db.now()
    with db.transaction(database_url) as session:
        session.add(Erasure(profile_id=profile.id, reason="other", counts={}, due_at=at, secret="trace-of-ann"))
    with db.transaction(database_url) as session:
        session.scalars(sa.select(Erasure)).one().secret = None
    assert b"trace-of-ann" in bytes_of(database_url, "erasures")
    compact(database_url)
    assert b"trace-of-ann" not in bytes_of(database_url, "erasures")


def test_the_hashes_that_a_store_told_go_from_the_database_with_its_free_pages(database_url: str) -> None:
    store = exports.connection(database_url, accounts.profile(database_url))
    of = {"connection_id": store.id, "profile_id": store.profile_id, "delivery_id": "1", "topic": "customers/redact"}
    with db.transaction(database_url) as session:
        session.add(StoreDelivery(**of, occurred_at=db.now(), facts={"identifiers": ["trace-of-ann"]}))
    with db.transaction(database_url) as session:
        session.scalars(sa.select(StoreDelivery)).one().facts = {}
    compact(database_url)
    assert b"trace-of-ann" not in bytes_of(database_url, "store_deliveries")


def bytes_of(url: str, table: str) -> bytes:
    """The bytes that the database keeps of a table, or of everything where all is in one file."""
    if url.startswith("sqlite"):
        file = Path(url.removeprefix("sqlite:///"))
        return b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    with db.engine_for(url).connect() as connection:
        connection.execute(sa.text("checkpoint"))
        read = sa.text("select pg_read_binary_file(pg_relation_filepath(:name))")
        return bytes(connection.execute(read, {"name": table}).scalar_one())


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
    url = create_database(postgres_server, "dumped", template=postgres_template)
    settings, profile = settings_of(home, url), accounts.profile(url)
    asked = {"profile_id": profile.id, "reason": "other", "counts": {}, "due_at": db.now(), "secret": "5e"}
    with db.transaction(url) as session:
        session.add(Erasure(status="processing", rewritten_at=db.now(), **asked))
    with db.transaction(url) as dump:
        dump.execute(sa.text("lock table ingested_records in access share mode"))
        with monkeypatch.context() as hasty, pytest.raises(StillReadError):
            hasty.setattr("orchestration.written_anew.PATIENCE_MILLISECONDS", 200)
            complete_erasures(settings)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Erasure.status)).all() == ["processing"]
        assert session.scalar(sa.text("show lock_timeout")) == "0"
    assert len(complete_erasures(settings)) == 1
    db.close_engines(url)


@pytest.fixture
def of_its_own(postgres_server: str, postgres_template: str) -> Iterator[str]:
    name = f"t{uuid.uuid4().hex}"
    url = create_database(postgres_server, name, template=postgres_template)
    yield url
    db.close_engines(url)
    drop_database(postgres_server, name)


def test_what_a_transaction_elsewhere_may_still_see_is_not_told_as_erased(
    home: Path, of_its_own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it held none of the tables: they were written anew with all that it might read, and the erasure was completed
    url, settings = of_its_own, settings_of(home, of_its_own)
    asked = {"profile_id": accounts.profile(url).id, "reason": "other", "counts": {}, "due_at": db.now()}
    with db.transaction(url) as session:
        session.add(Erasure(status="processing", rewritten_at=db.now(), secret="trace-of-ann", **asked))
    with db.engine_for(url).connect().execution_options(isolation_level="REPEATABLE READ") as reader:
        reader.execute(sa.text("select name from workspaces")).fetchall()
        with monkeypatch.context() as hasty, pytest.raises(StillReadError):
            hasty.setattr("orchestration.written_anew.READERS_SECONDS", 0.2)
            complete_erasures(settings)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Erasure.status)).all() == ["processing"]
    assert len(complete_erasures(settings)) == 1
    assert b"trace-of-ann" not in bytes_of(url, "erasures")


def test_a_table_of_another_user_of_postgres_is_not_told_as_written_anew(of_its_own: str, postgres_server: str) -> None:
    # Postgres passes it over with a warning
    role = f"r{uuid.uuid4().hex}"
    with db.transaction(postgres_server) as session:
        session.execute(sa.text(f"create role {role} login"))
    with db.transaction(of_its_own) as session:
        session.execute(sa.text(f"grant all on all tables in schema public to {role}"))
        session.execute(sa.text(f"alter table alembic_version owner to {role}"))
    its = sa.make_url(of_its_own).set(username=role).render_as_string()
    with pytest.raises(UnownedTableError, match="owns the table ingested_records"):
        compact(its)
    db.close_engines(its)
    with db.transaction(of_its_own) as session:
        session.execute(sa.text(f"reassign owned by {role} to current_user"))
        session.execute(sa.text(f"drop owned by {role}"))
        session.execute(sa.text(f"drop role {role}"))
