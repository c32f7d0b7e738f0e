"""What publication asks of a mart before it copies it."""

from __future__ import annotations

import duckdb
import pytest

from orchestration.served_tables import (
    Column,
    ContractBrokenError,
    ServedTable,
    broken_rows,
    require_fresh_rows,
    runs,
    served_tables,
)

TABLE = ServedTable("t", (Column("a", "INTEGER", True), Column("b", "VARCHAR", True)), ("a", "b"))
# more than one block, so that several threads read it
MANY = "select cast(i // 7 as int) as a, chr(cast(97 + i % 7 as int)) as b from range(500000) t(i)"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("select 1 as a, 'x' as b", 1),
        ("select 1 as a, 'x' as b limit 0", 1),
        ("values (1, 'x'), (1, 'y'), (2, 'a')", 1),
        ("values (1, 'y'), (1, 'x')", 2),
        ("values (2, 'a'), (1, 'b')", 2),
        ("values (2, 'a'), (1, 'b'), (1, 'a')", 3),
        (MANY, 1),
        (f"({MANY}) union all select 3, 'c'", 2),
    ],
)
def test_a_run_ends_where_a_row_comes_before_its_neighbour(rows: str, expected: int) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"create table t as select * from ({rows}) v(a, b)")
        assert runs(connection, "t", TABLE) == expected


@pytest.mark.parametrize(
    ("rows", "twice"),
    [
        ("values (1, 'x'), (1, 'y'), (2, 'a')", None),
        ("values (1, 'y'), (1, 'x'), (2, 'a')", None),
        ("values (1, null), (2, null), (null, 'a'), (null, 'b')", None),
        ("values (1, 'x'), (1, 'x'), (2, 'a')", (1, "x")),
        ("values (1, 'y'), (1, 'x'), (1, 'y')", (1, "y")),
        ("values (1, null), (1, null)", (1, None)),
        ("values (1, 'x'), (null, 'a'), (null, 'a')", (None, "a")),
        (MANY, None),
        (f"select * from ({MANY}) union all select 3, 'c'", (3, "c")),
        (f"select a, case when a = 40000 and b = 'c' then 'b' else b end from ({MANY})", (40000, "b")),
        ("select 1, 'x' limit 0", None),
    ],
)
def test_a_grain_that_two_rows_share_is_told_in_whatever_order_they_lie(
    rows: str, twice: tuple[object, object] | None
) -> None:
    table = ServedTable("t", (Column("a", "INTEGER", False), Column("b", "VARCHAR", False)), ("a", "b"))
    with duckdb.connect() as connection:
        connection.execute(f"create table t as select * from ({rows}) v(a, b)")
        told = broken_rows(connection, table)
    assert told == ([f"t: more than one row for (a, b) = {twice}"] if twice else [])


@pytest.mark.parametrize(
    ("table", "column", "good", "bad"),
    [
        ("touches", "channel", "'web'", "'newspaper'"),
        ("ad_creatives", "format", "null", "'VIDEO'"),
        ("delivery_daily", "spend_minor", "0", "-1"),
        ("fx_latest", "rate", "0.5", "0"),
    ],
)
def test_a_value_that_the_contract_rules_out_is_told(table: str, column: str, good: str, bad: str) -> None:
    # shape, absent values and grain alone were looked at, and what the data docs promise of values was not
    tables = {one.name: one for one in served_tables()}
    promised = {one.name: one for one in tables[table].columns}[column]
    told = ServedTable("t", (Column("a", "INTEGER", True), promised), ("a",))
    with duckdb.connect() as connection:
        connection.execute(f"create table t (a integer, {column} {promised.type})")
        connection.execute(f"insert into t values (1, {good})")
        assert broken_rows(connection, told) == []
        connection.execute(f"insert into t values (2, {bad}), (3, {good}), (4, {bad})")
        assert broken_rows(connection, told) == [f"t.{column}: 2 rows outside what is promised"]
        with pytest.raises(ContractBrokenError, match=rf"t\.{column}: 2 rows outside"):
            require_fresh_rows(connection, "main.t", "(select * from main.t)", told)
