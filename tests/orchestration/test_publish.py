"""Publication: all of a snapshot or nothing of it, and never an older run over a newer one."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from api.db import transaction
from api.models import Run
from orchestration import pointer
from orchestration.pointer import StaleTokenError
from orchestration.publish import prune, publish, take_token
from orchestration.served_tables import Column, ContractBrokenError, ServedTable
from touchledger.settings import Settings

TABLE = ServedTable(
    "credit",
    (Column("profile_key", "INTEGER", True), Column("day", "DATE", True), Column("cash_minor", "BIGINT", False)),
    ("profile_key", "day"),
)


NAMES = ServedTable("names", (Column("profile_key", "INTEGER", True),), ("profile_key",), names_people=True)


def build(settings: Settings, rows: str, columns: str = "profile_key, day, cash_minor") -> None:
    settings.warehouse.unlink(missing_ok=True)
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create schema marts")
        warehouse.execute(
            f"create table marts.credit as select a::int profile_key, b::date as day, c::bigint cash_minor"
            f" from (values {rows}) v(a, b, c)"
        )
        if columns != "profile_key, day, cash_minor":
            warehouse.execute(f"create or replace table marts.credit as select {columns} from marts.credit")


def served(settings: Settings) -> list[tuple[object, ...]]:
    current = pointer.read(settings.published)
    assert current is not None
    with duckdb.connect(str(settings.published / current.file), read_only=True) as connection:
        return connection.execute("select profile_key, day::varchar, cash_minor from credit").fetchall()


def run(settings: Settings) -> pointer.Pointer:
    return publish(settings, token=take_token(settings.operational_url), tables=[TABLE]).pointer


def files(settings: Settings) -> set[str]:
    return {path.name for path in settings.published.glob("*.duckdb*")}


def test_a_published_table_is_sorted_for_its_readers(settings: Settings) -> None:
    build(settings, "(2, '2026-01-01', 5), (1, '2026-01-02', 6), (1, '2026-01-01', 7)")
    run(settings)
    assert served(settings) == [(1, "2026-01-01", 7), (1, "2026-01-02", 6), (2, "2026-01-01", 5)]


@pytest.mark.parametrize(("late", "is_sorted"), [(1, False), (2, True)])
def test_a_large_table_keeps_its_few_late_runs_last(settings: Settings, late: int, is_sorted: bool) -> None:
    build(settings, "(0, '2026-01-01', 0)")
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        rows = "select (i // 2)::int, '2026-01-02'::date + (i % 2)::int, i from range(1, 300000) t(i)"
        warehouse.execute(f"insert into marts.credit {rows}")
        for n in range(late):
            warehouse.execute(f"insert into marts.credit values (7, '2025-01-01'::date - {n}, 5)")
    found = served(settings) if run(settings) else []
    assert (found == sorted(found)) is is_sorted
    # each late row is a run of its own, and 300,000 rows allow one
    assert len(found) == 300_000 + late


def test_the_pointer_and_the_file_say_the_same_about_themselves(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 7)")
    to = run(settings)
    with duckdb.connect(str(settings.published / to.file), read_only=True) as connection:
        row = connection.execute("select snapshot_id, token, schema_hash from snapshot").fetchone()
    assert row == (to.snapshot_id, to.token, to.schema_hash)
    assert json.loads((settings.published / "current.json").read_text())["file"] == to.file


def test_the_run_records_what_it_published(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 7)")
    to = run(settings)
    with transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(Run.snapshot_id).where(Run.id == to.token)).one() == to.snapshot_id


@pytest.mark.parametrize(
    ("rows", "columns", "problem"),
    [
        ("(1, '2026-01-01', 7), (1, '2026-01-01', 8)", "*", "more than one row for"),
        ("(1, null, 7)", "*", "credit.day: 1 row without a value"),
        (
            "(1, '2026-01-01', 7)",
            "* replace (cash_minor::double as cash_minor)",
            "DOUBLE where the contract says BIGINT",
        ),
        ("(1, '2026-01-01', 7)", "profile_key, day", "missing cash_minor"),
        ("(1, '2026-01-01', 7)", "*, 1 as surprise", "surprise not in the contract"),
        ("(1, '2026-01-01', 7)", "profile_key as other", "missing cash_minor, day, profile_key"),
    ],
)
def test_a_broken_contract_leaves_the_previous_snapshot_serving(
    settings: Settings, rows: str, columns: str, problem: str
) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    before = run(settings)
    names = files(settings)
    build(settings, rows, columns)
    with pytest.raises(ContractBrokenError, match=problem):
        run(settings)
    assert pointer.read(settings.published) == before
    assert files(settings) == names


def test_an_absent_table_is_named(settings: Settings) -> None:
    duckdb.connect(str(settings.warehouse)).close()
    with pytest.raises(ContractBrokenError, match="credit: there is no such table"):
        run(settings)


def test_a_run_that_started_earlier_cannot_publish_over_a_later_one(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    early, late = take_token(settings.operational_url), take_token(settings.operational_url)
    newest = publish(settings, token=late, tables=[TABLE]).pointer
    with pytest.raises(StaleTokenError, match=f"run {late}, which started later"):
        publish(settings, token=early, tables=[TABLE])
    assert pointer.read(settings.published) == newest
    assert files(settings) == {newest.file}


def test_only_the_newest_snapshots_are_kept(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    assert settings.served_keep == 7
    few = settings.model_copy(update={"served_keep": 2})
    published = [run(few).file for _ in range(4)]
    assert files(settings) == set(published[-2:])


def test_what_a_killed_build_left_is_swept(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    settings.published.mkdir()
    for name in ("building-dead.duckdb", "building-dead.duckdb.wal"):
        (settings.published / name).write_bytes(b"half")
    # into which DuckDB spills what does not fit in memory
    spilled = settings.published / "building-dead.duckdb.tmp"
    spilled.mkdir()
    (spilled / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"people")
    to = run(settings)
    assert files(settings) == {to.file}


def test_what_names_people_goes_to_a_file_that_comes_and_goes_with_its_snapshot(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create table marts.names as select 1::int as profile_key")
    few = settings.model_copy(update={"served_keep": 2})
    for _ in range(3):
        to = publish(few, token=take_token(settings.operational_url), tables=[TABLE, NAMES]).pointer
    prune(settings.published, keep=1)
    assert files(settings) == {to.file, f"names-{to.snapshot_id}.duckdb"}
    found = {}
    for name in files(settings):
        with duckdb.connect(str(settings.published / name), read_only=True) as connection:
            tables = connection.execute("select table_name from duckdb_tables()").fetchall()
            found[name.partition("-")[0]] = {table for (table,) in tables}
    assert found == {"served": {"credit", "snapshot"}, "names": {"names", "snapshot"}}


def test_what_was_spilled_beside_a_snapshot_goes_with_it(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    before = run(settings)
    # an API process that was killed, and one whose snapshot is gone already
    for name in (before.file, f"names-{before.snapshot_id}.duckdb", "names-gone.duckdb"):
        spilled = settings.published / f"{name}.tmp"
        spilled.mkdir()
        (spilled / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"people")
    to = run(settings)
    assert prune(settings.published, keep=1) == [before.file]
    assert files(settings) == {to.file}


def test_a_clock_that_was_set_back_keeps_no_older_snapshot_in_the_place_of_a_newer_one(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    settings.published.mkdir()
    ahead = [settings.published / f"served-{year}0000-0000-7000-8000-000000000000.duckdb" for year in ("ffff", "fffe")]
    for path in ahead:
        path.write_bytes(b"an erased person")
    current = run(settings).file
    assert prune(settings.published, keep=2) == [ahead[1].name]
    assert files(settings) == {current, ahead[0].name}
    assert prune(settings.published, keep=1) == [ahead[0].name]
    assert files(settings) == {current}


def test_a_build_that_is_not_published_leaves_no_names_behind(settings: Settings) -> None:
    build(settings, "(1, null, 7)")
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create table marts.names as select 1::int as profile_key")
    with pytest.raises(ContractBrokenError):
        publish(settings, token=take_token(settings.operational_url), tables=[TABLE, NAMES])
    assert files(settings) == set()


def test_a_served_file_is_readable_by_duckdb_1_5(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 1)")
    path: Path = settings.published / run(settings).file
    # bytes 12-20 of a DuckDB file are its storage version; 69 is the first that 1.5 refuses
    assert int.from_bytes(path.read_bytes()[12:20], "little") < 69


WHOLE = {"token": 1, "snapshot_id": "a", "file": "b", "schema_hash": "c", "built_at": "d"}
DAMAGED = {
    "": "Expecting value",
    "{": "Expecting property name",
    "[]": "it lacks snapshot_id, token, file, schema_hash, built_at$",
    "null": "it lacks snapshot_id, token, file, schema_hash, built_at$",
    '{"token": 1}': "it lacks snapshot_id, file, schema_hash, built_at$",
    json.dumps({**WHOLE, "token": "1"}): "token is no whole number or file no text$",
    json.dumps({**WHOLE, "file": None}): "token is no whole number or file no text$",
    "\x00" * 40: "Expecting value",
}


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_pointer_is_replaced_by_the_next_publication_and_by_no_older_one(
    settings: Settings, text: str
) -> None:
    build(settings, "(1, '2026-01-01', 7)")
    early = take_token(settings.operational_url)
    run(settings)
    (settings.published / "current.json").write_text(text)
    with pytest.raises(pointer.DamagedPointerError, match=f"current.json holds no pointer: {DAMAGED[text]}"):
        pointer.read(settings.published)
    with pytest.raises(StaleTokenError):
        publish(settings, token=early, tables=[TABLE])
    after = run(settings)
    assert pointer.read(settings.published) == after
    assert served(settings) == [(1, "2026-01-01", 7)]


def test_a_pointer_of_a_newer_version_is_read_without_what_only_that_one_knows(settings: Settings) -> None:
    build(settings, "(1, '2026-01-01', 7)")
    to = run(settings)
    path = settings.published / "current.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "colour": "blue"}))
    assert pointer.read(settings.published) == to
