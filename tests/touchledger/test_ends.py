"""What is in a command's way is told in one line, with the way out."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import duckdb
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from dagster_postgres.utils import DagsterPostgresException

from api.db import close_engines, now, transaction
from api.migrate import upgrade
from api.models import ErasedIdentifier, Erasure
from orchestration.dbt_manifest import target
from orchestration.locks import WriterBusyError, only_writer
from touchledger.accounts import create_profile
from touchledger.cli import main
from touchledger.doctor import database
from touchledger.doctor_files import signing_key
from touchledger.ends import told_in_a_line
from touchledger.output import Output
from touchledger.settings import Settings, load

STOPPED = """
import os, signal, sys
import click
from touchledger.ends import Commands
signal.signal(signal.SIGINT, signal.default_int_handler)

@click.group(cls=Commands)
def main(): ...

@main.command()
def wait():
    os.kill(os.getpid(), signal.SIGINT)

sys.argv[1:] = ["wait"]
main()
"""


def told(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    return result.stderr


@pytest.fixture
def damaged(settings: Settings) -> Path:
    """A pointer of which half was written."""
    settings.published.mkdir()
    path = settings.published / "current.json"
    path.write_text("{")
    return path


def test_ctrl_c_ends_a_command_in_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped; what was served before still is\n")


def test_the_status_tells_of_a_damaged_pointer_and_what_mends_it(damaged: Path) -> None:
    line = r"Error: current\.json holds no pointer: .*; `touchledger build` publishes a new one over it\n"
    assert re.fullmatch(line, told("status"))


def test_a_snapshot_that_cannot_be_read_explains_nothing(damaged: Path) -> None:
    line = "Error: the published snapshot cannot be read; `touchledger doctor` says more\n"
    assert told("explain", "any") == line


@pytest.mark.parametrize("command", ["status", "replay", "sync"])
def test_a_database_of_a_newer_version_is_left_to_that_version(settings: Settings, command: str) -> None:
    with transaction(settings.operational_url) as session:
        session.execute(sa.text("update alembic_version set version_num = 'ffffffffffff'"))
    assert re.fullmatch(r"Error: the database is of a newer version: run that one, .*\n", told(command))


def test_the_doctor_sends_nobody_from_a_newer_database_to_a_migration(settings: Settings) -> None:
    with transaction(settings.operational_url) as session:
        session.execute(sa.text("update alembic_version set version_num = 'ffffffffffff'"))
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert (result.exit_code, '"way_out": "run that one, or restore' in result.stdout) == (1, True)


def test_no_new_key_is_made_beside_what_only_the_old_one_opens(
    home: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it was made in silence, and whoever had been erased or kept out of audiences came back
    upgrade(settings.operational_url)
    assert CliRunner().invoke(main, ["status", "--quiet"]).exit_code == 0
    profile = create_profile(settings, name="Shop", timezone="UTC", currency="USD")
    with transaction(settings.operational_url) as session:
        session.add(Erasure(id="e", profile_id=profile, reason="person_request", counts={}, due_at=now()))
        session.flush()
        session.add(ErasedIdentifier(profile_id=profile, digest="d", erasure_id="e"))
    line = f"{home}/secret.key is gone, and the database holds names of erased people that only its key opens"
    assert told("status") == f"Error: {line}; put it back from the backup (docs/runbook.md)\n"
    assert [(one.verdict, one.found) for one in signing_key(settings)] == [("fail", line)]
    assert not (home / "secret.key").exists()
    (home / "secret.key").write_text("")
    assert "secret.key holds no key; put it back" in told("build")
    monkeypatch.setenv("TOUCHLEDGER_SECRET_KEY", "given")
    load.cache_clear()
    assert list(signing_key(load())) == []


def test_a_file_that_is_no_database_is_told_in_one_line(home: Path) -> None:
    (home / "operational.db").write_bytes(b"no database" * 1000)
    assert re.fullmatch(r"Error: the database cannot be used: file is not a database; .*\n", told("status"))


WAY_OUT = "remove it, and `touchledger build` makes it anew from what has landed"


@pytest.mark.parametrize("command", ["build", "docs"])
def test_a_warehouse_that_is_no_database_is_told_in_one_line(settings: Settings, command: str) -> None:
    settings.warehouse.write_bytes(b"x" * 9000)
    assert told(command, "--quiet") == f"Error: {settings.warehouse} is no DuckDB file; {WAY_OUT}\n"
    # without seconds of dbt, which would find the same
    assert not (target(settings) / "dbt.log").exists()


def test_a_warehouse_damaged_within_is_told_where_its_data_docs_are_asked_for(settings: Settings) -> None:
    with duckdb.connect(str(settings.warehouse)) as connection:
        connection.execute("create table t as select i from range(100000) t(i)")
    with settings.warehouse.open("r+b") as file:
        # behind the three heads of the file lies what it holds
        file.seek(3 * 4096)
        file.write(b"x" * 100_000)
    line = rf"Error: {settings.warehouse} is damaged \(.*\); {WAY_OUT}\n"
    assert re.fullmatch(line, told("docs", "--quiet"))
    assert not (target(settings) / "dbt.log").exists()


def test_a_database_that_went_away_in_a_run_is_told_in_one_line_where_dagster_asked_for_it() -> None:
    gone = sa.exc.OperationalError("select 1", {}, ConnectionError("connection refused\nIs the server running?"))
    wrapped = DagsterPostgresException("too many retries for DB connection")
    wrapped.__cause__ = gone
    line = "the database cannot be used: connection refused; `touchledger doctor` says more"
    assert told_in_a_line(wrapped) == told_in_a_line(gone) == line


# what an address may ask of Postgres that then keeps every command from its work, and what is told of it
IN_THE_WAY = {
    "options=-cdefault_transaction_read_only%3Don": ("cannot execute .* in a read-only transaction", "takes no writes"),
    "options=-csearch_path%3Dnowhere": ("no schema has been selected .*", "no schema of the search_path is there"),
    "options=-crole%3Dpg_monitor": ("permission denied .*", "the user may not make the schema dagster"),
    "sslmod=require": ('invalid connection option "sslmod"', 'invalid connection option "sslmod"'),
}


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_what_a_database_does_not_let_a_command_do_is_told_in_one_line_and_by_the_doctor(
    home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # tracebacks they were, and to the doctor each but the last was well
    for query, (line, finding) in IN_THE_WAY.items():
        address = f"{database_url}?{query}"
        monkeypatch.setenv("TOUCHLEDGER_DATABASE_URL", address)
        load.cache_clear()
        said = f"Error: the database cannot be used: {line}; `touchledger doctor` says more\n"
        assert re.fullmatch(said, told("status"))
        (found,) = database(load())
        assert (found.verdict, found.found.partition(": ")[2]) == ("fail", finding)
        close_engines(address)


class Full(io.StringIO):
    """A standard output on a disk without room."""

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("output", [{}, {"quiet": True}, {"as_json": True}])
def test_a_result_that_finds_no_room_is_not_blamed_on_the_state_folder(
    monkeypatch: pytest.MonkeyPatch, output: dict[str, bool]
) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(click.ClickException, match="standard output: No space left on device"):
        Output(**output).result("one", {})


def test_the_holder_of_a_lock_is_named(tmp_path: Path) -> None:
    holding, taking = (only_writer(tmp_path / "lock", purpose=purpose) for purpose in ("wait", "write"))
    with holding, pytest.raises(WriterBusyError) as busy, taking:
        pass
    assert f"held by pid {os.getpid()}" in (told_in_a_line(busy.value) or "")


def test_a_fault_of_ours_is_not_told_as_one_of_the_deployment() -> None:
    assert told_in_a_line(KeyError("name")) is None
    assert told_in_a_line(sa.exc.IntegrityError("insert", {}, ValueError("twice"))) is None


@pytest.mark.parametrize("command", ["status", "build"])
def test_a_folder_that_is_gone_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    # a build went on until dbt's process could not begin, and ended in its traceback
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    gone = "Error: the folder that this command was started in is there no more; begin in another one\n"
    assert told(command) == gone


def test_an_installation_without_models_and_contracts_says_how_it_gets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a wheel has only the Python files: imports knew no data set, and the doctor sent whoever asked it to itself
    monkeypatch.setattr("touchledger.ends.REPOSITORY", tmp_path)
    lacks = f"Error: {tmp_path} has no dbt_project and no data_contracts/inbound: Touchledger runs from its repository"
    assert told("doctor") == f"{lacks}; `make setup` there installs it\n"
    (tmp_path / "dbt_project").mkdir()
    assert "has no data_contracts/inbound: " in told("status")
