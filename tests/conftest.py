"""Fixtures every test may use: settings of an empty state folder, and a migrated operational database."""

from __future__ import annotations

import gc
import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from orchestration.garbage import search_seldom
from touchledger import settings as settings_module
from touchledger.settings import Settings

# what make targets say to the tests; settings of the machine must not reach them
OF_TESTS = {"TOUCHLEDGER_NO_SKIP", "TOUCHLEDGER_KILLS", "TOUCHLEDGER_FUZZ_EXAMPLES"}

# folders whose fixtures of the session take minutes; every worker has a session of its own
TOGETHER = {"tests/dbt_project", "tests/laws"}

pytest_plugins = ["tests.fixtures.postgres"]
if importlib.util.find_spec("tests.fixtures.sandbox"):
    pytest_plugins.append("tests.fixtures.sandbox")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: needs Debian's Chromium")
    for name in [name for name in os.environ if name.startswith("TOUCHLEDGER_") and name not in OF_TESTS]:
        del os.environ[name]
    # sealed columns read the settings of the process, which without a folder would make one here
    os.environ["TOUCHLEDGER_TOKEN_KEY"] = "of tests"
    _draw_alike()
    _hash_cheaply()
    _compile_once()
    _wait_for_no_disk()
    _read_authorities_once()
    # what a worker imports and collects stays to its end; to search it for garbage again and again finds none
    search_seldom()


def _draw_alike() -> None:
    # the same cases on every machine, judged by what they do and not by how long a busy one took
    from hypothesis import settings

    settings.register_profile("suite", deadline=None, derandomize=True, database=None)
    settings.load_profile("suite")


def _hash_cheaply() -> None:
    # a password costs a quarter of a second of both cores, on purpose; tests/api/test_passwords.py asks for that
    from argon2 import PasswordHasher

    from api import passwords

    passwords._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def _compile_once() -> None:
    # an engine keeps what it compiled to itself, and nearly every test has an engine of its own: a sixth of what a test
    # of the API takes was compiling what the test before had compiled too
    from sqlalchemy import Engine
    from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
    from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
    from sqlalchemy.util import LRUCache

    compiled: LRUCache[Any, Any] = LRUCache(5000)

    def share(_dialect: type, engine: Engine) -> None:
        engine.update_execution_options(compiled_cache=compiled)

    for dialect in (PGDialect_psycopg, SQLiteDialect_pysqlite):
        # what is compiled is found by the dialect that it was compiled for
        dialect.__eq__ = lambda self, other: type(self) is type(other)
        dialect.__hash__ = lambda self: hash(type(self))
        dialect.engine_created = classmethod(share)


def _wait_for_no_disk() -> None:
    # no test pulls the plug, so what this process writes need not outlive the machine, as with the fixtures' Postgres;
    # each of an empty lake's 58 renames and each of a test's commits waited for the disk
    import sqlite3

    import sqlalchemy as sa

    def hastily(connection: Any, *_: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("pragma synchronous=off")

    # behind our own listener of new connections, which asks for the opposite
    sa.event.listen(sa.Pool, "checkout", hastily)
    os.fsync = lambda _: None


def _read_authorities_once() -> None:
    # each client of httpx reads whom the machine trusts, which takes five times as long as a call on loopback
    from httpx._transports import default

    make = default.create_ssl_context

    @cache
    def made(verify: Any, cert: Any, trust_env: bool, *_variables: str | None) -> Any:
        return make(verify, cert, trust_env)

    def kept(verify: Any = True, cert: Any = None, trust_env: bool = True) -> Any:
        return made(verify, cert, trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

    default.create_ssl_context = kept


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With --dist loadfile the tests of `TOGETHER` go to one worker each, which builds their warehouses once."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class ByFolder(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            folder = file.rpartition("/")[0]
            return folder if folder in TOGETHER else file

    return ByFolder(config, log)


def pytest_collection_finish() -> None:
    """What was collected stays to the end: no search for garbage looks at it again, three of which end each worker."""
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """With TOUCHLEDGER_NO_SKIP set (as CI does) a skipped test is a failed one."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and os.environ.get("TOUCHLEDGER_NO_SKIP"):
        report.outcome = "failed"
        report.longrepr = f"skipped where no skip is allowed: {report.longrepr}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state folder that the environment names too."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(path))
    settings_module.load.cache_clear()
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """Address of a migrated, empty operational database; each test that asks runs on SQLite and on Postgres."""
    from api.db import close_engines

    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite_url")
        return
    databases = request.getfixturevalue("postgres_databases")
    url = databases.take()
    yield url
    close_engines(url)
    databases.give_back(url)


@pytest.fixture
def sqlite_url(home: Path) -> Iterator[str]:
    """Address of a migrated SQLite database in the state folder, for tests that are not about the database."""
    from api.db import close_engines
    from tests.factories.deployments import migrate, settings_of

    settings = settings_of(home)
    migrate(settings)
    yield settings.operational_url
    close_engines(settings.operational_url)


@pytest.fixture
def settings(home: Path, sqlite_url: str) -> Settings:
    """Settings of a prepared, empty deployment on SQLite."""
    from tests.factories.deployments import settings_of

    return settings_of(home)
