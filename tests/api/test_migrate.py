"""The migrations and the models describe the same database."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory
from pydantic import SecretStr

from api import migrate
from api.app_names import key_of
from api.db import Base, close_engines, engine_for
from api.sealing import unseal
from tests.fixtures.postgres import create_database, drop_database
from touchledger.doctor import database
from touchledger.ends import told_in_a_line
from touchledger.settings import Settings


def test_the_migrations_lead_to_the_models(database_url: str) -> None:
    migrate.check(database_url)
    tables = set(sa.inspect(engine_for(database_url)).get_table_names())
    assert tables == set(Base.metadata.tables) | {"alembic_version"}


def test_the_migrations_lead_to_what_alembic_does_not_compare(sqlite_url: str, tmp_path: Path) -> None:
    made = engine_for(f"sqlite:///{tmp_path}/made.db")
    Base.metadata.create_all(made)
    migrated, of_models = sa.inspect(engine_for(sqlite_url)), sa.inspect(made)
    for table in Base.metadata.tables:
        assert _rules(migrated, table) == _rules(of_models, table), table


def _rules(inspector: sa.Inspector, table: str) -> dict[str, object]:
    """Primary key, conditions, and of which rows each index is."""
    partial = [
        (one["name"], one.get("dialect_options", {}).get("sqlite_where")) for one in inspector.get_indexes(table)
    ]
    return {
        "key": inspector.get_pk_constraint(table)["constrained_columns"],
        "checks": sorted((str(one["name"]), one["sqltext"]) for one in inspector.get_check_constraints(table)),
        "indexes": sorted((str(name), str(where)) for name, where in partial),
    }


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


def test_a_database_that_a_newer_version_migrated_is_told_from_one_of_ours_and_of_before(database_url: str) -> None:
    migrate.require_known(database_url)
    with engine_for(database_url).begin() as connection:
        connection.execute(sa.text("update alembic_version set version_num = 'of_tomorrow'"))
    with pytest.raises(migrate.NewerDatabaseError, match="run that one"):
        migrate.require_known(database_url)
    with engine_for(database_url).begin() as connection:
        connection.execute(sa.text("delete from alembic_version"))
    migrate.require_known(database_url)


def test_processes_that_start_together_migrate_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/together.db"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate.upgrade, [url] * 4))
    migrate.check(url)


def test_a_table_that_a_dump_holds_is_not_waited_for_and_nothing_is_migrated(
    postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # until the dump had ended the command stood still, and behind it every request that came to the table
    url = create_database(postgres_server, f"held_{uuid.uuid4().hex}")
    base = str(ScriptDirectory(str(migrate.MIGRATIONS)).get_base())
    migrate.upgrade(url, base)
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as dump:
        dump.execute(sa.text("lock table profiles in access share mode"))
        with monkeypatch.context() as hasty, pytest.raises(migrate.HeldDatabaseError) as held:
            hasty.setattr(migrate, "PATIENCE_MILLISECONDS", 200)
            migrate.upgrade(url)
    assert told_in_a_line(held.value) == str(held.value)
    with engine_for(url).connect() as connection:
        assert connection.scalar(sa.text("select version_num from alembic_version")) == base
    migrate.upgrade(url)
    migrate.check(url)
    close_engines(url)
    drop_database(postgres_server, str(sa.make_url(url).database))


def test_a_database_in_use_is_migrated_with_its_rows(tmp_path: Path) -> None:
    # SQLite refused to change a table that other rows point at
    url = f"sqlite:///{tmp_path}/in_use.db"
    migrate.upgrade(url, str(ScriptDirectory(str(migrate.MIGRATIONS)).get_base()))
    with engine_for(url).begin() as connection:
        for statement in (
            "insert into workspaces (id, name, timezone, plan, created_at)"
            " values ('w', 'W', 'UTC', 'starter', '2026-01-01')",
            "insert into profiles (id, workspace_id, name, timezone, reporting_currency, is_demo, lookback_days,"
            " half_life_days, inherit_recurring, own_domains, payment_hosts, created_at)"
            " values ('p', 'w', 'P', 'UTC', 'USD', 0, 90, 7, 1, '[]', '[]', '2026-01-01')",
            "insert into api_keys (id, lineage_id, profile_id, name, prefix, digest, scopes, created_at)"
            " values ('k', 'k', 'p', 'K', 'tl_live_', 'd', '[]', '2026-01-01')",
            "insert into connections (id, profile_id, provider, kind, display_name, external_account_id, status,"
            " base_url, token, is_sandbox, created_at)"
            " values ('c', 'p', 'meta', 'ad_platform', 'C', '1', 'active', 'https://a', 'EAAplain', 0, '2026-01-01'),"
            " ('d', 'p', 'meta', 'ad_platform', 'D', '2', 'reconnect_required', 'https://a', 'EAAd', 0, '2026-01-01')",
        ):
            connection.execute(sa.text(statement))
    migrate.upgrade(url)
    migrate.check(url)
    with engine_for(url).connect() as connection:
        assert connection.execute(sa.text("select profile_id from api_keys")).scalars().all() == ["p"]
        assert connection.exec_driver_sql("pragma foreign_keys").scalar() == 1
        token, dead = connection.execute(sa.text("select token from connections order by id")).scalars().all()
    # providers had said of it that it opens nothing any more
    assert dead == ""
    # what was stored in the clear before tokens were sealed is sealed
    assert "EAAplain" not in token
    assert unseal(token) == "EAAplain"
    close_engines(url)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_names_of_apps_that_read_the_same_stay(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    url = f"sqlite:///{tmp_path}/twins.db"
    if kind == "postgres":
        url = create_database(request.getfixturevalue("postgres_server"), f"twins{uuid.uuid4().hex}")
    migrate.upgrade(url, "84a503970e77")
    with engine_for(url).begin() as connection:
        for row in ("('b', 'acme', '2026-01-02')", "('a', 'Acme', '2026-01-01')"):
            connection.execute(sa.text(f"insert into apps (id, name, created_at) values {row}"))
    migrate.upgrade(url)
    with engine_for(url).connect() as connection:
        older, newer = connection.execute(sa.text("select name, name_key from apps order by id")).all()
    assert (older.name, newer.name) == ("Acme", "acme")
    assert older.name_key == key_of("acme") != newer.name_key
    close_engines(url)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_spell_every_name_is_refused_while_it_is_empty(
    postgres_server: str, settings: Settings, encoding: str
) -> None:
    # every command ended with a traceback of the driver's, or the first name with a letter of another alphabet was 500
    name = f"e{uuid.uuid4().hex}"
    with sa.create_engine(postgres_server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool).connect() as server:
        made = f"create database {name} template template0 encoding '{encoding}' lc_collate 'C' lc_ctype 'C'"
        server.execute(sa.text(made))
    url = postgres_server.rsplit("/", 1)[0] + f"/{name}"
    with pytest.raises(migrate.WrongEncodingError, match=f"keeps texts in {encoding}") as refused:
        migrate.upgrade(url)
    assert told_in_a_line(refused.value) == str(refused.value)
    (finding,) = database(settings.model_copy(update={"database_url": SecretStr(url)}))
    assert (finding.verdict, finding.found.endswith(f"keeps texts in {encoding}")) == ("fail", True)
    close_engines(url)
    drop_database(postgres_server, name)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_workspace_of_commands_is_none_that_a_person_called_alike(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    url = f"sqlite:///{tmp_path}/alike.db"
    if kind == "postgres":
        url = create_database(request.getfixturevalue("postgres_server"), f"alike{uuid.uuid4().hex}")
    migrate.upgrade(url, "c7a90d35e1f8")
    with engine_for(url).begin() as connection:
        for id_, day, archived in (("gone", 1, "'2026-01-09'"), ("theirs", 2, "null"), ("ours", 3, "null")):
            values = f"('{id_}', 'Touchledger', 'UTC', 'starter', '2026-01-0{day}', {archived})"
            columns = "(id, name, timezone, plan, created_at, archived_at)"
            connection.execute(sa.text(f"insert into workspaces {columns} values {values}"))
        connection.execute(sa.text("insert into users (id, email, created_at) values ('u', 'u@x.test', '2026-01-01')"))
        values = "('m', 'theirs', 'u', 'owner', '[]', '2026-01-02')"
        columns = "(id, workspace_id, user_id, role, permissions, created_at)"
        connection.execute(sa.text(f"insert into memberships {columns} values {values}"))
    migrate.upgrade(url)
    with engine_for(url).connect() as connection:
        assert connection.execute(sa.text("select id from workspaces where is_own")).scalars().all() == ["ours"]
    close_engines(url)
