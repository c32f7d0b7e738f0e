"""What a mutant must survive: the model's unit tests, then the tests of the built warehouse that read its children.

Everything runs in one DuckDB process: unit tests over tables of their given rows, the rest in a transaction that
builds the mutant and what hangs on it, and is rolled back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import yaml

from data_contracts.contract import LOADER
from orchestration.dbt_manifest import PROJECT, target
from tests.dbt_project.project import Project

Question = Callable[[Any], None]
UnitTests = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Model:
    """A model as dbt compiled it: its relation, its SQL, and the models that read it."""

    name: str
    relation: str
    sql: str
    children: tuple[str, ...]


def compiled(project: Project) -> dict[str, Model]:
    """Every model of a built project by name, parents before children."""
    manifest = json.loads((target(project.settings) / "manifest.json").read_text())
    found = {}
    for key, node in manifest["nodes"].items():
        path = target(project.settings) / "compiled" / "touchledger" / node["original_file_path"]
        if node["resource_type"] == "model" and path.exists():
            children = [name.split(".")[-1] for name in manifest["child_map"][key] if name.startswith("model.")]
            found[node["name"]] = Model(node["name"], node["relation_name"], path.read_text(), tuple(children))
    return found


class Warehouse:
    """A built warehouse in which a model can be another for the time of a question."""

    def __init__(self, project: Project, models: Mapping[str, Model]) -> None:
        self.settings, self.models = project.settings, models
        self.connection = duckdb.connect(str(project.settings.warehouse), config={"threads": 2})
        told = "select table_schema || '.' || table_name from information_schema.tables where table_type = 'VIEW'"
        self.views = {name for (name,) in self.rows(told)}

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """As Project.rows, within the open transaction."""
        return self.connection.execute(sql).fetchall()

    def broken_by(self, changed: Mapping[str, str], questions: Sequence[Question]) -> str | None:
        """The first question that the warehouse fails with this SQL as those models, or None."""
        self.connection.execute("begin")
        try:
            for name in self._with_below(changed):
                self._put(name, changed.get(name, self.models[name].sql))
            for question in questions:
                try:
                    question(self)
                except (AssertionError, LookupError, ValueError, TypeError):
                    return getattr(question, "__name__", "a test")
        except duckdb.Error as error:
            return f"error: {error}"[:150]
        finally:
            self.connection.execute("rollback")
        return None

    def _put(self, name: str, sql: str) -> None:
        relation = self.models[name].relation
        kind = "view" if ".".join(relation.replace('"', "").split(".")[-2:]) in self.views else "table"
        self.connection.execute(f"create or replace {kind} {relation} as {sql}")

    def _with_below(self, names: Iterable[str]) -> list[str]:
        found, waiting = set(names), list(names)
        while waiting:
            new = {child for child in self.models[waiting.pop()].children if child in self.models} - found
            found |= new
            waiting += new
        return [one for one in _ordered(self.models) if one in found]


def _ordered(models: Mapping[str, Model]) -> list[str]:
    """Parents before children."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name in models and name not in order:
            for child in models[name].children:
                visit(child)
            order.append(name)

    for name in models:
        visit(name)
    return order[::-1]


def unit_tests(models: Mapping[str, Model]) -> UnitTests:
    """The unit tests of the project by model."""
    found: UnitTests = {name: [] for name in models}
    for path in sorted((PROJECT / "models").rglob("*.yml")):
        for test in (yaml.load(path.read_text(), LOADER) or {}).get("unit_tests", ()):
            found.setdefault(test["model"], []).append(test)
    return found


def variables() -> dict[str, Any]:
    """The project's variables."""
    told: dict[str, Any] = yaml.safe_load((PROJECT / "dbt_project.yml").read_text())["vars"]
    return told


def failed_unit_test(warehouse: Warehouse, name: str, sql: str, tests: Iterable[dict[str, Any]]) -> str | None:
    """Name of the first unit test that `sql` fails as that model, or None."""
    for test in tests:
        warehouse.connection.execute("begin")
        try:
            if not _passes(warehouse, sql, test):
                return str(test["name"])
        except duckdb.Error as error:
            return f"error: {error}"[:150]
        finally:
            warehouse.connection.execute("rollback")
    return None


def _passes(warehouse: Warehouse, sql: str, test: dict[str, Any]) -> bool:
    run = warehouse.connection.execute
    for variable, value in test.get("overrides", {}).get("vars", {}).items():
        sql = re.sub(rf"\b{variables()[variable]}\b", str(value), sql)
    for number, given in enumerate(test["given"]):
        name = given["input"].split("'")[-2]
        relation = warehouse.models[name].relation
        run(f"create temp table given_{number} as select * from {relation} limit 0")
        _fill(warehouse, f"given_{number}", given)
        sql = sql.replace(relation, f"given_{number}")
    run(f"create temp table actual as {sql}")
    expected = test["expect"]
    told = () if expected.get("format") == "sql" else dict.fromkeys(name for row in expected["rows"] for name in row)
    names = ", ".join(told) or "*"
    run(f"create temp table expected as select {names} from actual limit 0")
    _fill(warehouse, "expected", test["expect"])
    (odd,) = run(
        f"select count(*) from ((select {names} from actual except all from expected)"
        f" union all (from expected except all select {names} from actual))"
    ).fetchall()[0]
    return bool(odd == 0)


def _fill(warehouse: Warehouse, table: str, given: dict[str, Any]) -> None:
    if given.get("format") == "sql":
        warehouse.connection.execute(f"insert into {table} by name {given['rows']}")
        return
    for row in given["rows"]:
        names = ", ".join(row)
        marks = ", ".join("?" for _ in row)
        # as dbt writes them: a float of fourteen figures is another decimal
        values = [value if value is None or isinstance(value, (bool, int)) else str(value) for value in row.values()]
        warehouse.connection.execute(f"insert into {table} ({names}) values ({marks})", values)


def file_of(name: str) -> Path:
    """The SQL file of a model."""
    return next((PROJECT / "models").rglob(f"{name}.sql"))
