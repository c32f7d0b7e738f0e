"""A statement that the driver runs by itself gives and raises what it would through SQLAlchemy, on both databases."""

from __future__ import annotations

from decimal import Decimal
from typing import cast

import pytest
import sqlalchemy as sa

from api import db
from api.models import Profile
from api.prepared import Prepared, detached
from tests.factories import accounts

TABLE = cast(sa.Table, Profile.__table__)
ONE = sa.select(*TABLE.c).where(TABLE.c.id == sa.bindparam("id"))
SECRET = "tl_live_of_somebody"


@pytest.fixture
def profile_id(database_url: str) -> str:
    made = accounts.profile(database_url)
    with db.transaction(database_url) as session:
        profile = session.get_one(Profile, made.id)
        profile.monthly_budget, profile.own_domains = Decimal("12.5"), ["a.example", "b.example"]
    return made.id


def test_values_are_those_of_sqlalchemy(database_url: str, profile_id: str) -> None:
    prepared = Prepared(ONE)
    with db.engine_for(database_url).begin() as connection:
        through = [list(row) for row in connection.execute(ONE, {"id": profile_id})]
        assert len(through) == 1
        for _ in range(2):
            assert prepared.rows(connection, id=profile_id) == through
        assert prepared.rows(connection, id="none has it") == []


def test_what_it_changes_goes_with_the_transaction(database_url: str, profile_id: str) -> None:
    renamed = sa.update(TABLE).where(TABLE.c.id == sa.bindparam("which")).values(name=sa.bindparam("to"))
    with db.engine_for(database_url).connect() as connection:
        assert Prepared(renamed).rows(connection, which=profile_id, to="Another") == []
        assert Prepared(ONE).rows(connection, id=profile_id)[0][2] == "Another"
        connection.rollback()
    with db.transaction(database_url) as session:
        assert session.get_one(Profile, profile_id).name != "Another"


def test_a_row_becomes_what_a_closed_session_leaves(database_url: str, profile_id: str) -> None:
    with db.engine_for(database_url).begin() as connection:
        profile = detached(Profile, Prepared(ONE).rows(connection, id=profile_id)[0])
    with db.transaction(database_url) as session:
        loaded = session.get_one(Profile, profile_id)
        assert {name: getattr(profile, name) for name in TABLE.c.keys()} == {  # noqa: SIM118 - not a mapping
            name: getattr(loaded, name)
            for name in TABLE.c.keys()  # noqa: SIM118
        }
        assert profile.settings_version == loaded.settings_version
    assert sa.inspect(profile).detached
    profile.name = "Renamed"
    with db.transaction(database_url) as session:
        session.add(profile)
    with db.transaction(database_url) as session:
        assert session.get_one(Profile, profile_id).name == "Renamed"


def test_what_the_driver_raises_is_sqlalchemys_error_without_the_parameters(database_url: str) -> None:
    lost = Prepared(
        sa.select(sa.column("a")).select_from(sa.table("nowhere")).where(sa.column("a") == sa.bindparam("b"))
    )
    with (
        db.engine_for(database_url).connect() as connection,
        pytest.raises(sa.exc.DBAPIError, match="nowhere") as raised,
    ):
        lost.rows(connection, b=SECRET)
    assert SECRET not in str(raised.value)
    assert SECRET not in repr(raised.value)


def test_a_session_on_a_connection_shares_its_transaction(database_url: str, profile_id: str) -> None:
    with db.admission(database_url) as session:
        Prepared(sa.update(TABLE).values(name=sa.bindparam("to"))).rows(db.connection_of(session), to="One")
        profile = session.get_one(Profile, profile_id)
        assert profile.name == "One"
        profile.timezone = "Europe/Berlin"
    with db.transaction(database_url) as session:
        profile = session.get_one(Profile, profile_id)
        assert (profile.name, profile.timezone) == ("One", "Europe/Berlin")
    with pytest.raises(ZeroDivisionError), db.admission(database_url) as session:
        session.get_one(Profile, profile_id).name = "Two"
        1 / 0  # noqa: B018
    with db.transaction(database_url) as session:
        assert session.get_one(Profile, profile_id).name == "One"
