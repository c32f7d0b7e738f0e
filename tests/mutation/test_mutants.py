"""The mutators: each mutant differs by one change that reads as a slip, and no change is no mutant."""

from __future__ import annotations

import ast

import duckdb

from tests.mutation.python_mutants import mutants_of
from tests.mutation.sql_mutants import mutants

QUERY = """
with told as (select a, b from t union all select a, b from u)
select min(told.a) as low, coalesce(sum(told.b), 0) as total
from told left join v on told.a = v.a and told.b >= v.b
where told.a < 5 and told.b <> 2
"""


def test_a_query_has_a_mutant_for_every_slip() -> None:
    found = mutants("m", QUERY)
    changes = {mutant.change for mutant in found}
    assert changes >= {
        "min to max", "lt to lte", "gte to gt", "neq to eq", "and to or", "left conjunct dropped",
        "right conjunct dropped", "first branch only", "last branch only", "coalesce without its default",
        "left join to inner", "constant plus one",
    }  # fmt: skip
    assert len({mutant.sql for mutant in found}) > 15


def test_only_an_order_that_decides_something_is_turned() -> None:
    ranked = "select a, row_number() over (order by b) as n from (select * from t order by c limit 1) order by a"
    assert {one.before for one in mutants("m", ranked) if one.change == "order turned"} == {"b", "c"}


def test_every_mutant_is_sql_that_runs() -> None:
    with duckdb.connect() as connection:
        for table in "tuv":
            connection.execute(f"create table {table} (a int, b int)")
        for mutant in mutants("m", QUERY):
            connection.execute(mutant.sql)


def test_what_a_loop_wrote_several_times_changes_together() -> None:
    looped = "select min(a_1) over (partition by b) from t union all select min(a_2) over (partition by b) from t"
    (mutant,) = [one for one in mutants("m", looped) if one.change == "min to max"]
    assert mutant.sql.upper().count("MAX(") == 2


def test_a_modules_mutants_are_python_and_differ_from_it() -> None:
    source = "def f(a, b):\n    return a < b and not b + 1 == 2 or True\n"
    found = [text for _, text in mutants_of(source)]
    assert len(found) == len(set(found)) >= 8
    assert all(ast.parse(text) and text.strip() != source.strip() for text in found)
