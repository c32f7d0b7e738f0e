"""A snapshot made of the one before: the same rows as written anew, and nothing of a person who was erased."""

from __future__ import annotations

import zlib
from pathlib import Path

import duckdb
import pytest

from orchestration import increment, pointer
from orchestration.kept_rows import Kept
from orchestration.publish import publish, take_token
from orchestration.renewal import lineage
from orchestration.served_tables import Column, ContractBrokenError, ServedTable
from touchledger.settings import Settings

COLUMNS = (Column("profile_key", "INTEGER", True), Column("seen", "DATE", False), Column("said", "VARCHAR", True))
TABLE = ServedTable("visits", COLUMNS, ("profile_key", "seen"))
ROWS = 1000
KEPT = Kept(("profile_key",), "intermediate.changed")
SECRET = "a-word-that-is-not-compressed-with-others"


@pytest.fixture
def first(settings: Settings) -> pointer.Pointer:
    """The snapshot of a whole build: a thousand rows, whose last one says the secret."""
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create schema marts")
        warehouse.execute(
            "create table marts.visits as select i::int as profile_key, nullif('2026-01-01'::date + i::int,"
            f" '2026-01-08') as seen, case when i = {ROWS - 1} then '{SECRET}' else 'said ' || i end as said"
            f" from range({ROWS}) t(i)"
        )
    came_from(settings, "whole 1")
    return run(settings)


def came_from(settings: Settings, whole: str, build: str = "build 1", before: str = "") -> None:
    increment.end(settings, increment.Base("models", {}, 1, whole, build, before))


def run(settings: Settings, table: ServedTable = TABLE, kept: Kept | None = None) -> pointer.Pointer:
    marts = {"visits": kept} if kept else {}
    return publish(settings, token=take_token(settings.operational_url), tables=[table], kept=marts).pointer


def change(settings: Settings, sql: str) -> None:
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute(sql)


def file(settings: Settings, snapshot: pointer.Pointer) -> Path:
    return settings.published / snapshot.file


def in_place(settings: Settings, snapshot: pointer.Pointer) -> bool:
    """Whether the file's rows are the mart's, and then whether they lie in order, as those of a table made anew do."""
    with duckdb.connect(str(file(settings, snapshot)), read_only=True) as connection:
        rows = connection.execute("select * from visits").fetchall()
        connection.execute(f"attach '{settings.warehouse}' as warehouse (read_only)")
        wanted = connection.execute("select * from warehouse.marts.visits order by all").fetchall()
        sorted_here = connection.execute("select * from visits order by all").fetchall()
    assert sorted_here == wanted
    return rows == sorted_here


def test_rows_that_came_changed_and_went_are_all_that_is_written(settings: Settings, first: pointer.Pointer) -> None:
    before = file(settings, first).read_bytes()
    change(settings, "update marts.visits set said = 'other' where profile_key in (3, 7)")
    change(settings, "delete from marts.visits where profile_key in (5, 6)")
    change(settings, "insert into marts.visits values (8, null, 'new'), (5, '2026-02-01', 'new')")
    second = run(settings)
    assert in_place(settings, second) is False
    with duckdb.connect(str(file(settings, second)), read_only=True) as connection:
        numbers = [number for (number,) in connection.execute("select profile_key from visits").fetchall()]
    assert numbers == [*sorted(set(range(ROWS)) - {3, 5, 6, 7}), 3, 5, 7, 8]
    assert file(settings, first).read_bytes() == before
    assert file(settings, second).stat().st_mode & 0o777 == 0o444
    # bytes 12-20 of a DuckDB file are its storage version; 69 is the first that 1.5 refuses
    assert int.from_bytes(file(settings, second).read_bytes()[12:20], "little") < 69


def test_a_renewed_file_says_its_own_name_and_can_be_renewed_again(settings: Settings, first: pointer.Pointer) -> None:
    for n in range(3):
        change(settings, f"update marts.visits set said = 'turn {n}' where profile_key = {n}")
        to = run(settings)
        with duckdb.connect(str(file(settings, to)), read_only=True) as connection:
            said = connection.execute("select snapshot_id, token, lineage from snapshot").fetchall()
        assert said == [(to.snapshot_id, to.token, lineage(settings, [TABLE]))]
        assert in_place(settings, to) is False


def test_where_nothing_changed_the_next_snapshot_is_the_same(settings: Settings, first: pointer.Pointer) -> None:
    assert in_place(settings, run(settings))


def test_after_a_whole_build_no_byte_of_what_went_is_left(settings: Settings, first: pointer.Pointer) -> None:
    change(settings, f"delete from marts.visits where said = '{SECRET}'")
    kept = run(settings)
    assert SECRET.encode() in file(settings, kept).read_bytes(), "a renewed file keeps deleted rows in its blocks"
    came_from(settings, "whole 2")
    change(settings, "update marts.visits set said = 'other' where profile_key = 3")
    fresh = run(settings)
    assert in_place(settings, fresh)
    assert SECRET.encode() not in file(settings, fresh).read_bytes()


def test_without_a_base_everything_is_written_anew(settings: Settings, first: pointer.Pointer) -> None:
    change(settings, "update marts.visits set said = 'other' where profile_key = 3")
    increment.forget(settings)
    assert in_place(settings, run(settings))
    # nor is what was published without one ever renewed
    change(settings, "update marts.visits set said = 'yet another' where profile_key = 3")
    assert in_place(settings, run(settings))
    came_from(settings, "whole 1")
    change(settings, "update marts.visits set said = 'another' where profile_key = 3")
    assert in_place(settings, run(settings))


def test_other_promises_are_checked_on_every_row(settings: Settings, first: pointer.Pointer) -> None:
    stricter = ServedTable("visits", (COLUMNS[0], Column("seen", "DATE", True), COLUMNS[2]), TABLE.grain)
    with pytest.raises(ContractBrokenError, match="seen: 1 row without a value"):
        run(settings, stricter)


def test_a_table_is_sorted_again_when_a_tenth_lies_behind_its_place(settings: Settings, first: pointer.Pointer) -> None:
    found = []
    for n in range(4):
        change(
            settings, f"update marts.visits set said = 'turn {n}' where profile_key between {40 * n} and {40 * n + 39}"
        )
        found.append(in_place(settings, run(settings)))
    assert found == [False, False, True, False]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("(3, '2026-01-04', 'again')", r"more than one row for \(profile_key, seen\) = \(3"),
        ("(7, null, 'again')", r"more than one row for \(profile_key, seen\) = \(7, None\)"),
        ("(3, '2026-01-04', 'said 3')", r"more than one row for \(profile_key, seen\) = \(3"),
        ("(3, '2026-03-04', null)", "visits.said: 1 row without a value"),
    ],
)
def test_new_rows_that_break_a_promise_leave_the_snapshot_before(
    settings: Settings, first: pointer.Pointer, row: str, problem: str
) -> None:
    change(settings, f"insert into marts.visits values {row}")
    with pytest.raises(ContractBrokenError, match=problem):
        run(settings)
    assert pointer.read(settings.published) == first
    assert [path.name for path in settings.published.glob("*.duckdb*")] == [first.file]


def test_a_damaged_snapshot_is_not_renewed(settings: Settings, first: pointer.Pointer) -> None:
    path = file(settings, first)
    content = bytearray(path.read_bytes())
    content[content.index(SECRET.encode())] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)
    change(settings, "update marts.visits set said = 'other' where profile_key = 3")
    assert in_place(settings, run(settings))


def made_anew(settings: Settings, rows: str, kept: Kept = KEPT) -> pointer.Pointer:
    """Publish the build that followed the first one, which made some rows of its mart anew."""
    came_from(settings, "whole 1", "build 2", "build 1")
    change(settings, f"create schema intermediate; create table intermediate.changed as {rows}")
    return run(settings, kept=kept)


def said(settings: Settings, snapshot: pointer.Pointer, *keys: int) -> list[str]:
    with duckdb.connect(str(file(settings, snapshot)), read_only=True) as connection:
        found = dict(connection.execute("select profile_key, said from visits").fetchall())
    return [found[key] for key in keys]


def test_of_a_mart_that_keeps_rows_only_those_made_anew_are_compared(
    settings: Settings, first: pointer.Pointer
) -> None:
    change(settings, "update marts.visits set said = 'other' where profile_key in (3, 4)")
    second = made_anew(settings, "select unnest([3, 5, 3]) as profile_key")
    assert said(settings, second, 3, 4, 5) == ["other", "said 4", "said 5"]


def test_of_rows_made_anew_since_a_day_those_before_it_are_not_compared(
    settings: Settings, first: pointer.Pointer
) -> None:
    change(settings, "update marts.visits set said = 'other' where profile_key in (3, 4)")
    since = "select unnest([3, 4]) as profile_key, unnest(['2026-01-04', '2026-01-06']::date[]) as seen"
    second = made_anew(settings, since, Kept(KEPT.keys, KEPT.changed, since="seen"))
    assert said(settings, second, 3, 4) == ["other", "said 4"]


@pytest.mark.parametrize("before", ["", "build 0", "build 2"])
def test_rows_are_compared_one_and_all_where_the_snapshot_is_of_another_build_than_the_one_before(
    settings: Settings, first: pointer.Pointer, before: str
) -> None:
    change(settings, "create schema intermediate; create table intermediate.changed as select 3 as profile_key")
    change(settings, "update marts.visits set said = 'other' where profile_key in (3, 4)")
    came_from(settings, "whole 1", "build 2", before)
    assert said(settings, run(settings, kept=KEPT), 3, 4) == ["other", "other"]


def test_a_mart_with_more_rows_than_were_made_anew_is_written_anew(settings: Settings, first: pointer.Pointer) -> None:
    change(settings, f"insert into marts.visits values ({ROWS}, '2026-02-01', 'new')")
    assert in_place(settings, made_anew(settings, "select 3 as profile_key"))


def test_a_file_that_is_not_what_was_published_is_not_renewed(settings: Settings, first: pointer.Pointer) -> None:
    # behind its last block, where DuckDB does not look: as little as at the blocks of rows that are not compared
    path = file(settings, first)
    path.chmod(0o644)
    with path.open("ab") as end:
        end.write(b"x")
    change(settings, "update marts.visits set said = 'other' where profile_key = 3")
    assert in_place(settings, made_anew(settings, "select 3 as profile_key"))


def test_a_pointer_tells_what_its_file_must_read_as(settings: Settings, first: pointer.Pointer) -> None:
    change(settings, "update marts.visits set said = 'other' where profile_key = 3")
    for snapshot in (first, run(settings)):
        assert int(snapshot.checksum, 16) == zlib.crc32(file(settings, snapshot).read_bytes())


def test_a_snapshot_that_is_gone_is_not_renewed(settings: Settings, first: pointer.Pointer) -> None:
    file(settings, first).unlink()
    assert in_place(settings, run(settings))


def test_the_rows_of_a_view_are_written_anew_beside_tables_that_are_renewed(
    settings: Settings, first: pointer.Pointer
) -> None:
    seen = ServedTable("seen", COLUMNS, TABLE.grain)
    change(settings, "create view marts.seen as from marts.visits")
    for n in range(2):
        change(settings, f"update marts.visits set said = 'turn {n}' where profile_key = 3")
        to = publish(settings, token=take_token(settings.operational_url), tables=[TABLE, seen]).pointer
    assert in_place(settings, to) is False
    with duckdb.connect(str(file(settings, to)), read_only=True) as connection:
        found = connection.execute("select said from seen where profile_key = 3").fetchall()
    assert found == [("turn 1",)]


def test_one_table_that_breaks_a_promise_undoes_what_was_renewed_beside_it(
    settings: Settings, first: pointer.Pointer
) -> None:
    others = [ServedTable(f"others_{n}", COLUMNS, TABLE.grain) for n in range(4)]
    for other in others:
        change(settings, f"create table marts.{other.name} as from marts.visits")
    tables = [*others[:2], TABLE, *others[2:]]
    before = publish(settings, token=take_token(settings.operational_url), tables=tables).pointer
    content = file(settings, before).read_bytes()
    for table in tables:
        change(settings, f"update marts.{table.name} set said = 'new' where profile_key = 3")
    change(settings, "insert into marts.visits values (3, '2026-01-04', 'again')")
    with pytest.raises(ContractBrokenError, match="visits: more than one row"):
        publish(settings, token=take_token(settings.operational_url), tables=tables)
    assert pointer.read(settings.published) == before
    assert file(settings, before).read_bytes() == content
    assert sorted(path.name for path in settings.published.glob("*.duckdb*")) == sorted([first.file, before.file])

    change(settings, "delete from marts.visits where said = 'again'")
    to = publish(settings, token=take_token(settings.operational_url), tables=tables)
    assert set(to.rows.values()) == {ROWS}
    with duckdb.connect(str(file(settings, to.pointer)), read_only=True) as connection:
        for table in tables:
            found = connection.execute(f"select said from {table.name} where profile_key = 3").fetchall()
            assert found == [("new",)]
