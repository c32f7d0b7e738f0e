"""The migrations and the models describe the same database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sqlalchemy as sa

from api import migrate
from api.db import Base, engine_for


def test_the_migrations_lead_to_the_models(database_url: str) -> None:
    migrate.check(database_url)
    tables = set(sa.inspect(engine_for(database_url)).get_table_names())
    assert tables == set(Base.metadata.tables) | {"alembic_version"}


def test_migrating_again_changes_nothing(database_url: str) -> None:
    migrate.upgrade(database_url)
    migrate.check(database_url)


def test_a_model_that_no_migration_knows_is_noticed(sqlite_url: str) -> None:
    with engine_for(sqlite_url).begin() as connection:
        connection.execute(sa.text("alter table profiles drop column payment_hosts"))
    try:
        migrate.check(sqlite_url)
    except Exception as difference:
        assert "payment_hosts" in str(difference)
    else:
        raise AssertionError("the missing column went unnoticed")


def test_processes_that_start_together_migrate_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/together.db"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate.upgrade, [url] * 4))
    migrate.check(url)
