"""What the doctor tells of a Postgres whose tables somebody else made."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.db import close_engines, transaction
from tests.factories.deployments import settings_of
from tests.fixtures.postgres import create_database, drop_database
from touchledger.doctor import database


@pytest.fixture
def owners(postgres_server: str, postgres_template: str) -> Iterator[str]:
    name = f"t{uuid.uuid4().hex}"
    url = create_database(postgres_server, name, template=postgres_template)
    yield url
    close_engines(url)
    drop_database(postgres_server, name)


@pytest.fixture
def servers(owners: str, postgres_server: str) -> Iterator[str]:
    """The same database for a user that may do with its tables what it likes, and owns none."""
    role = f"r{uuid.uuid4().hex}"
    _do(owners, f"create role {role} login", f"grant create on database {sa.make_url(owners).database} to {role}")
    _do(owners, f"grant all on all tables in schema public to {role}")
    _do(owners, f"grant all on all sequences in schema public to {role}")
    url = sa.make_url(owners).set(username=role).render_as_string()
    yield url
    close_engines(url)
    _do(owners, f"drop owned by {role}", f"drop role {role}")


def test_a_right_that_is_missing_is_told_with_its_table(home: Path, owners: str, servers: str) -> None:
    # every request to such a table failed with 500, and the doctor said that all was well
    settings, role = settings_of(home, servers), sa.make_url(servers).username
    assert [one.verdict for one in database(settings_of(home, owners))] == ["ok"]
    (well, owned) = database(settings)
    assert (well.verdict, owned.verdict) == ("ok", "warn")
    assert owned.found.startswith("the user does not own agreement_signatures, api_keys, app_secrets and ")
    _do(
        owners, f"revoke insert on goals from {role}", f"revoke usage, update on sequence events_serial_seq from {role}"
    )
    (_, lacking, _) = database(settings)
    assert (lacking.verdict, lacking.found) == ("fail", "the user lacks a right on events, goals")
    assert "usage on its sequence" in lacking.way_out


def _do(url: str, *statements: str) -> None:
    with transaction(url) as session:
        for statement in statements:
            session.execute(sa.text(statement))
