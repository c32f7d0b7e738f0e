"""The doctor as a script runs it: in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from pydantic import SecretStr

from api.db import close_engines, now, transaction
from api.migrate import upgrade
from api.models import Import, Profile
from orchestration import durable, pointer, warehouse_state
from orchestration.locks import only_writer
from tests.end_to_end.command import Deployment, free_port
from tests.factories import accounts, exports, served
from touchledger.cli import main
from touchledger.doctor import connections, database, ports, state_folder
from touchledger.doctor_files import history, imports, signing_key, snapshot, warehouse
from touchledger.settings import SPARE_BYTES, Settings, load


@pytest.fixture
def deployment(settings: Settings) -> Deployment:
    return Deployment(settings.home)


def test_the_doctor_of_a_migrated_database_prints_json_or_a_word_and_nothing_else(deployment: Deployment) -> None:
    findings = json.loads(deployment.run("doctor", "--json"))
    assert next(one["verdict"] for one in findings if one["subject"] == "database") == "ok"
    assert deployment.run_here("doctor", "--quiet") == "ok"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_where_nobody_answers_is_free_whatever_the_kind_of_address(settings: Settings, host: str) -> None:
    finding = next(ports(settings.model_copy(update={"api_host": host, "api_port": free_port()})))
    assert (finding.verdict, finding.subject) == ("ok", "port")


def test_a_host_where_the_api_cannot_listen_is_told_before_it_is_served(settings: Settings) -> None:
    finding = next(ports(settings.model_copy(update={"api_host": "no-such-host.invalid", "api_port": free_port()})))
    assert (finding.verdict, finding.subject) == ("fail", "port")
    assert finding.found.startswith("TOUCHLEDGER_API_HOST: no-such-host.invalid is no address of this machine")


def test_a_machine_without_loopback_is_not_told_to_change_where_the_api_listens(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {name: free_port() for name in ("api_port", "dagster_port", "sandbox_port")}
    bind = socket.socket.bind
    monkeypatch.setattr(socket.socket, "bind", lambda probe, address: bind(probe, ("192.0.2.1", address[1])))
    api, *others = ports(settings.model_copy(update=chosen))
    assert api.found.startswith("TOUCHLEDGER_API_HOST: 127.0.0.1 is no address of this machine")
    assert [one.found.partition(" (")[0] for one in others] == ["127.0.0.1 is no address of this machine"] * 2


@pytest.mark.parametrize(
    ("free", "verdict"), [(0, "fail"), (SPARE_BYTES, "fail"), (SPARE_BYTES + 1, "warn"), (2 * 1024**3, "ok")]
)
def test_a_disk_with_less_room_than_readyz_asks_for_is_no_mere_warning(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    found = {one.subject: one.verdict for one in state_folder(settings)}
    assert found["disk"] == verdict


@pytest.mark.parametrize(("files", "verdict"), [(100, "fail"), (0, "ok")])
def test_a_disk_with_room_and_no_inode_is_told_as_what_it_lacks(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, files: int, verdict: str
) -> None:
    # it was "No space left on device", beside a `df` that shows gigabytes, and another folder was advised
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 * 1024**3))
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_files=files, f_favail=0))
    (disk,) = (one for one in state_folder(settings) if one.subject == "disk")
    assert (disk.verdict, "no inode" in disk.found) == (verdict, verdict == "fail")


def test_a_port_that_is_taken_is_told(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        there = {"api_host": "localhost", "api_port": listener.getsockname()[1]}
        finding = next(ports(settings.model_copy(update=there)))
    assert finding.verdict == "warn"


def test_a_damaged_database_of_the_state_folder_is_not_said_to_lack_a_migration(settings: Settings) -> None:
    close_engines(settings.operational_url)
    (settings.home / "operational.db").write_bytes(b"no database" * 1000)
    (finding,) = database(settings)
    assert (finding.verdict, "file is not a database" in finding.found) == ("fail", True)
    assert "put the backup in its place" in finding.way_out


def test_a_database_elsewhere_that_does_not_answer_is_told_with_its_reason(settings: Settings) -> None:
    url = SecretStr("postgresql+psycopg://user:hunter2@127.0.0.1:1/nothing")
    (finding,) = database(settings.model_copy(update={"database_url": url}))
    assert ("refused" in finding.found, "hunter2" in finding.found) == (True, False)
    assert finding.way_out == "start it, or correct TOUCHLEDGER_DATABASE_URL"


def test_a_warehouse_that_is_no_database_is_told_with_the_way_out(settings: Settings) -> None:
    assert list(warehouse(settings)) == []
    duckdb.connect(settings.warehouse).close()
    warehouse_state.end(settings, "1")
    assert [one.verdict for one in warehouse(settings)] == ["ok"]
    # DuckDB opens no empty one either
    for content in (b"x" * 9000, b""):
        settings.warehouse.write_bytes(content)
        (finding,) = warehouse(settings)
        assert (finding.verdict, finding.found) == ("fail", f"{settings.warehouse} is no DuckDB file")
        assert "remove it" in finding.way_out


def test_a_warehouse_that_no_build_finished_is_told_unless_one_is_under_way(settings: Settings) -> None:
    # it was called well after a build that had failed or was killed, whose figures nobody gets
    duckdb.connect(settings.warehouse).close()
    (finding,) = warehouse(settings)
    assert (finding.verdict, finding.found.partition(";")[0]) == ("warn", "the last build did not end well")
    assert finding.way_out.startswith("run `touchledger build`")
    for name in ("warehouse", "dbt"):
        with only_writer(settings.home / "locks" / f"{name}.lock", purpose="build"):
            assert [one.verdict for one in warehouse(settings)] == ["ok"]
    assert [one.verdict for one in warehouse(settings)] == ["warn"]


def test_a_database_that_is_gone_beside_rows_of_the_lake_is_told(home: Path) -> None:
    settings = Settings(home=home)
    # it was "not made yet", and the way out was to have an empty one made
    assert [one.verdict for one in database(settings)] == ["warn"]
    landed = settings.lake / "raw" / "touches" / "p" / "app" / "b.parquet"
    landed.parent.mkdir(parents=True)
    landed.write_bytes(b"")
    (finding,) = database(settings)
    assert (finding.verdict, finding.found) == ("fail", f"{settings.home}/operational.db is gone")
    assert finding.way_out == "put its backup in its place"


def test_a_page_of_the_database_that_was_overwritten_is_told(settings: Settings) -> None:
    # each command said that the doctor says more, and the doctor called it migrated
    upgrade(settings.operational_url)
    with transaction(settings.operational_url) as session:
        page = session.scalar(sa.text("select rootpage from sqlite_master where name = 'connections'"))
        size = session.scalar(sa.text("pragma page_size"))
    close_engines(settings.operational_url)
    with (settings.home / "operational.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"x" * size)
    (finding,) = database(settings)
    assert (finding.verdict, "is damaged: " in finding.found, "backup" in finding.way_out) == ("fail", True, True)


def test_damaged_books_of_dagster_are_told(settings: Settings) -> None:
    # a build ended with "file is not a database" and sent to the doctor, which found all well
    assert list(history(settings)) == []
    for name, way_out in (("schedules/schedules.db", "schedules"), ("history/runs.db", "history and storage")):
        path = settings.dagster_home / name
        path.parent.mkdir(parents=True)
        # what cannot be opened, as on a full disk, need not be damaged
        path.mkdir()
        assert list(history(settings)) == []
        path.rmdir()
        with closing(sqlite3.connect(path)) as books:
            books.execute("pragma journal_mode=wal")
        assert list(history(settings)) == []
        assert list(path.parent.iterdir()) == [path], "whoever looks leaves nothing behind"
        path.write_bytes(b"no database" * 1000)
        (finding,) = history(settings)
        assert (finding.verdict, finding.found) == ("fail", f"{path}: file is not a database")
        assert finding.way_out.startswith(f"remove {way_out} in {settings.dagster_home} while nothing runs")
        path.unlink()


def test_a_key_and_books_that_may_not_be_read_are_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    # commands named them and sent to the doctor, which found all well
    key, books = settings.home / "secret.key", settings.dagster_home / "history" / "runs.db"
    # reading a folder fails for whoever runs the tests
    key.mkdir()
    assert [(one.verdict, one.found) for one in signing_key(settings)] == [("fail", f"{key}: Is a directory")]
    books.parent.mkdir(parents=True)
    sqlite3.connect(books).close()
    monkeypatch.setattr(os, "access", lambda path, _: path != books)
    assert [(one.verdict, one.found) for one in history(settings)] == [("fail", f"{books} may not be read or written")]


def test_imported_rows_that_the_lake_has_lost_are_told(settings: Settings) -> None:
    assert list(imports(settings)) == []
    upgrade(settings.operational_url)
    assert list(imports(settings)) == []
    names = {"scope": "_shared", "dataset": "fx_rates", "file_name": "rates.csv", "sha256": "0" * 64}
    with transaction(settings.operational_url) as session:
        session.add(Import(**names, status="loaded", rows_in=1, rows_loaded=1, rows_quarantined=0))
    (finding,) = imports(settings)
    assert (finding.verdict, finding.found) == (
        "fail",
        "of 1 imported files the rows are gone from the lake: rates.csv first",
    )


def test_a_state_folder_that_cannot_be_reached_is_told_by_the_doctor_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHLEDGER_HOME", f"/tmp/{'x' * 300}")
    load.cache_clear()
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert (result.exit_code, result.stderr) == (1, "")
    assert {"state folder", "database", "warehouse", "snapshot"} <= {
        one["subject"] for one in json.loads(result.stdout)
    }


def test_a_snapshot_that_is_damaged_within_or_lacks_its_names_is_told(settings: Settings) -> None:
    # both were called well, while the API answered 503 to whoever read that block, or asked for people
    snapshot_id = served.publish(settings.published, {"person_names": []})
    path = settings.published / f"served-{snapshot_id}.duckdb"
    published = pointer.read(settings.published)
    assert published is not None
    current = replace(published, checksum=durable.checksum(path))
    pointer.move(settings.published, current)
    assert [one.verdict for one in snapshot(settings)] == ["ok"]
    # as if a block had changed that is not read when the file is opened
    pointer.move(settings.published, replace(current, checksum="00000000"))
    (finding,) = snapshot(settings)
    assert (finding.verdict, finding.found) == ("fail", f"{path.name} is not what was published")
    pointer.move(settings.published, replace(current, checksum=""))
    (settings.published / f"names-{snapshot_id}.duckdb").unlink()
    (finding,) = snapshot(settings)
    assert (finding.verdict, finding.found) == ("fail", f"names-{snapshot_id}.duckdb cannot be opened")


def test_a_snapshot_of_an_older_version_that_the_api_refuses_is_told_with_what_it_lacks(settings: Settings) -> None:
    served.publish(settings.published, {"person_names": []})
    assert [one.verdict for one in snapshot(settings)] == ["ok"]
    current = pointer.read(settings.published)
    assert current is not None
    with duckdb.connect(settings.published / current.file) as earlier:
        earlier.execute("alter table products drop column status")
    (finding,) = snapshot(settings)
    assert (finding.verdict, finding.found) == ("fail", f"{current.file} lacks products.status")
    assert "`touchledger build`" in finding.way_out


def test_connections_that_gave_nothing_are_told_with_who_has_to_act(settings: Settings) -> None:
    # the status listed them, and a doctor of a deployment that pulled nothing any more found all well
    url = settings.operational_url
    assert list(connections(settings)) == []
    profile = accounts.profile(url)
    exports.connection(url, profile)
    assert [(one.verdict, one.found) for one in connections(settings)] == [("ok", "1 gave what they were asked for")]
    told: dict[str, dict[str, str]] = {
        "dead": {"status": "reconnect_required", "status_reason": "expired"},
        "closed": {"status": "needs_action", "status_reason": "permission_missing"},
        "slow": {"status_reason": "throttled"},
        "left": {"status": "disconnected"},
    }
    for name, members in told.items():
        exports.connection(url, profile, display_name=name, **members)
    found = {one.found: one.way_out for one in connections(settings)}
    assert list(found) == [
        "dead (meta): reconnect_required, expired",
        "closed (meta): needs_action, permission_missing",
        "slow (meta): active, throttled",
    ]
    assert found["dead (meta): reconnect_required, expired"].startswith("its owner has to connect it anew")
    assert {one.verdict for one in connections(settings)} == {"warn"}
    with transaction(url) as session:
        session.get_one(Profile, profile.id).archived_at = now()
    assert list(connections(settings)) == []


def test_the_doctor_makes_no_key_beside_accounts_whose_key_is_lost(
    settings: Settings, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it opened their tokens, for which a new key was made, and from then on no command missed the old one
    monkeypatch.delenv("TOUCHLEDGER_TOKEN_KEY")
    exports.connection(settings.operational_url, accounts.profile(settings.operational_url))
    key = settings.home / "secret.key"
    key.unlink(missing_ok=True)
    for _ in range(2):
        done = deployment.attempt_here("doctor", "--json")
        (found,) = [one["found"] for one in json.loads(done.stdout) if one["subject"] == "key"]
        assert found == f"{key} is gone, and the database holds tokens of accounts that only its key opens"
    assert not key.exists()


def test_a_password_in_the_query_of_the_databases_address_is_not_told(settings: Settings) -> None:
    url = SecretStr("postgresql+psycopg://127.0.0.1:1/shop?user=ann&password=hush1&sslpassword=hush2&sslmode=prefer")
    (finding,) = database(settings.model_copy(update={"database_url": url}))
    assert "hush" not in f"{finding.found} {finding.way_out}"
    assert "127.0.0.1:1/shop?sslmode=prefer&user=ann" in finding.found
