"""What an SQLite database knows, moved to Postgres by the commands that the runbook prints."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from api import migrate
from api.db import Base, close_engines, engine_for, transaction
from api.models import Connection, Event, Run
from tests.end_to_end.test_restore import printed
from tests.factories import accounts
from tests.factories.connected import to_store
from tests.fixtures.postgres import create_database, drop_database
from touchledger.settings import REPOSITORY, Settings


@pytest.fixture
def empty(postgres_server: str) -> Iterator[str]:
    name = f"t{uuid.uuid4().hex}"
    url = create_database(postgres_server, name)
    yield url
    close_engines(url)
    drop_database(postgres_server, name)


def move(settings: Settings, target: str) -> int:
    close_engines(settings.operational_url)
    commands = printed("On Postgres").replace(".venv/bin/python", f"'{sys.executable}'")
    environment = {**os.environ, "SOURCE": settings.operational_url, "TARGET": target, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(["bash", "-euc", commands], env=environment, cwd=REPOSITORY, capture_output=True).returncode


def rows(url: str) -> dict[str, list[tuple[object, ...]]]:
    with engine_for(url).connect() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=str)
            for table in Base.metadata.sorted_tables
        }


def test_a_moved_database_holds_every_row_and_numbers_on_from_there(settings: Settings, empty: str) -> None:
    profile = accounts.profile(settings.operational_url)
    to_store(settings.operational_url, profile, "http://127.0.0.1:1")
    with transaction(settings.operational_url) as session:
        session.add_all([Run(started_at=datetime(2026, 3, day, tzinfo=UTC)) for day in (1, 2, 3)])
        session.add(Event(id=str(uuid.uuid4()), profile_id=profile.id, fingerprint="f"))
    with transaction(settings.operational_url) as session:
        session.execute(sa.delete(Run).where(Run.id == 3))
    before = rows(settings.operational_url)
    assert {"profiles", "connections", "runs"} <= {name for name, there in before.items() if there}
    assert move(settings, empty) == 0
    migrate.check(empty)
    assert rows(empty) == before
    with transaction(empty) as session:
        session.add(run := Run(started_at=datetime(2026, 3, 4, tzinfo=UTC)))
        session.add(event := Event(id=str(uuid.uuid4()), profile_id=profile.id, fingerprint="f"))
        session.flush()
        assert event.serial == 2
        # not 3: the id of a run is never given again
        assert run.id == 4
        assert session.scalars(sa.select(Connection.token)).all()
    # a second time adds nothing
    assert move(settings, empty) != 0
    assert len(rows(empty)["profiles"]) == 1
