"""The mutators: each mutant differs by one change that reads as a slip, and no change is no mutant."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import duckdb

from orchestration.dbt_manifest import ensure_manifest
from tests.dbt_project.project import Project
from tests.mutation.__main__ import AREAS, BUILT
from tests.mutation.judges import Model, Warehouse, failed_unit_test
from tests.mutation.python_mutants import mutants_of
from tests.mutation.sql_mutants import mutants
from touchledger.settings import Settings

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


def test_each_condition_and_each_deed_of_a_module_is_left_out_once() -> None:
    source = "def f(a, b):\n    if a and b and 1 < a < b:\n        print(a)\n    raise ValueError\n"
    found = {ast.unparse(ast.parse(text)) for _, text in mutants_of(source)}
    for old, new in (
        ("a and b and (1 < a < b)", "b and 1 < a < b"), ("a and b and (1 < a < b)", "a and b"),
        ("1 < a < b", "1 <= a < b"), ("1 < a < b", "1 < a <= b"), ("print(a)", "pass"), ("raise ValueError", "pass"),
    ):  # fmt: skip
        assert ast.unparse(ast.parse(source)).replace(old, new) in found, new


def test_what_is_mutated_is_built(tmp_path: Path) -> None:
    manifest = json.loads(ensure_manifest(Settings(home=tmp_path)).read_text())
    waiting = [f"model.touchledger.{mart.removeprefix('+')}" for mart in BUILT]
    built: set[str] = set()
    while waiting:
        if (one := waiting.pop()) not in built:
            built.add(one)
            waiting += manifest["parent_map"].get(one, ())
    mutated = {f"model.touchledger.{name}" for names in AREAS.values() for name in names}
    assert mutated <= built


def test_a_unit_test_means_its_decimals_to_the_last_figure(tmp_path: Path) -> None:
    # the mart of payments failed one without any change, and could not be mutated
    project = Project(Settings(home=tmp_path))
    with duckdb.connect(str(project.settings.warehouse)) as connection:
        connection.execute("create table sums as select 0.0000::decimal(18, 4) as a")
    warehouse = Warehouse(project, {"sums": Model("sums", '"main"."sums"', "", ())})
    test = {
        "name": "as_it_is", "given": [{"input": "ref('sums')", "rows": [{"a": 99999999999998.9}]}],
        "expect": {"rows": [{"a": 99999999999998.9}]},
    }  # fmt: skip
    assert failed_unit_test(warehouse, "sums", 'select a from "main"."sums"', [test]) is None
    assert failed_unit_test(warehouse, "sums", 'select a + 0.1 as a from "main"."sums"', [test]) == "as_it_is"
    # what is given is as exact as what is expected
    test["expect"] = {"rows": [{"a": "99999999999998.9"}]}
    assert failed_unit_test(warehouse, "sums", 'select a from "main"."sums"', [test]) is None
    warehouse.connection.close()


def test_a_mutant_stands_in_the_place_of_a_view_or_a_table_for_one_question(tmp_path: Path) -> None:
    project = Project(Settings(home=tmp_path))
    seen, doubled = "create view seen as select a + 1 as a from kept", "select 2 * a as a from kept"
    with duckdb.connect(str(project.settings.warehouse)) as connection:
        connection.execute(f"create table kept as select 1 as a; {seen}; create table last as select a from seen")
    models = {
        "kept": Model("kept", '"main"."kept"', "select 1 as a", ("seen",)),
        "seen": Model("seen", '"main"."seen"', "select a + 1 as a from kept", ("last",)),
        "last": Model("last", '"main"."last"', "select a from seen", ()),
    }
    warehouse = Warehouse(project, models)

    def is_two(one: Warehouse) -> None:
        assert one.rows("select a from last") == [(2,)]

    assert warehouse.broken_by({"kept": "select 2 as a"}, [is_two]) == "is_two"
    assert warehouse.broken_by({"seen": "select 3 * a as a from kept"}, [is_two]) == "is_two"
    assert warehouse.broken_by({"seen": doubled}, [is_two]) is None
    assert warehouse.broken_by({"seen": doubled, "kept": "select 2 as a"}, [is_two]) == "is_two"
    assert warehouse.rows("select a from last union all select a from kept") == [(2,), (1,)]
    warehouse.connection.close()
