"""Names come in one order, whatever the locale of the database."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from api.db import close_engines, engine_for, transaction
from api.migrate import check, upgrade
from api.models import Profile, Workspace
from tests.fixtures.postgres import drop_database

NAMES = ["9", "10", "_x", "Alpha", "ab", "a b", "zeta", "Zeta", "ß", "Straße", "éclair", "日本"]
EACH = sa.values(sa.column("one", sa.String), name="names").data([(name,) for name in NAMES])


@pytest.fixture
def in_english(postgres_server: str) -> Iterator[str]:
    """Address of an empty database that sorts as English does, as the cluster of a machine set up in it."""
    name = f"t{uuid.uuid4().hex}"
    engine = sa.create_engine(postgres_server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        locale = "locale_provider icu icu_locale 'en-US' locale 'C' encoding 'UTF8'"
        connection.execute(sa.text(f'create database "{name}" template template0 {locale}'))
    url = postgres_server.rsplit("/", 1)[0] + f"/{name}"
    yield url
    close_engines(url)
    drop_database(postgres_server, name)


def test_names_are_in_the_order_of_their_code_points_where_the_locale_has_another(in_english: str) -> None:
    # lists of profiles were in another order on Postgres than on SQLite, and on each Postgres in its own
    upgrade(in_english)
    check(in_english)
    with transaction(in_english) as session:
        session.add_all(Workspace(name=name) for name in NAMES)
        session.flush()
        of_all = {"workspace_id": session.scalar(sa.select(sa.func.min(Workspace.id))), "timezone": "UTC"}
        session.add_all(Profile(name=name, reporting_currency="USD", **of_all) for name in NAMES)
    with engine_for(in_english).connect() as connection:
        as_the_locale_has_it = list(connection.scalars(sa.select(sa.column("one")).select_from(EACH).order_by("one")))
        assert as_the_locale_has_it != sorted(NAMES)
        for model in (Workspace, Profile):
            assert list(connection.scalars(sa.select(model.name).order_by(model.name))) == sorted(NAMES)
