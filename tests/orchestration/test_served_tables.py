"""What publication asks of a mart before it copies it."""

from __future__ import annotations

import duckdb
import pytest

from orchestration.served_tables import Column, ServedTable, runs

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
