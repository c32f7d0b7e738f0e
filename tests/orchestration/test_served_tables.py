"""What publication asks of a mart before it copies it."""

from __future__ import annotations

import duckdb
import pytest

from orchestration.served_tables import Column, ServedTable, is_in_order

TABLE = ServedTable("t", (Column("a", "INTEGER", True), Column("b", "VARCHAR", True)), ("a", "b"))
# more than one block, so that several threads read it
MANY = "select cast(i // 7 as int) as a, chr(cast(97 + i % 7 as int)) as b from range(500000) t(i)"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("select 1 as a, 'x' as b", True),
        ("select 1 as a, 'x' as b limit 0", True),
        ("values (1, 'x'), (1, 'y'), (2, 'a')", True),
        ("values (1, 'y'), (1, 'x')", False),
        ("values (2, 'a'), (1, 'b')", False),
        (MANY, True),
        (f"({MANY}) union all select 3, 'c'", False),
    ],
)
def test_a_table_is_in_order_when_no_row_comes_before_its_neighbour(rows: str, expected: bool) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"create table t as select * from ({rows}) v(a, b)")
        assert is_in_order(connection, "t", TABLE) is expected
