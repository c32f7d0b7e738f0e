"""Every model has its file beside it, which says what a row is and what each column means."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from data_contracts import contract as contracts
from orchestration.dbt_manifest import PROJECT
from tests.dbt_project.project import Project

MODELS = sorted((PROJECT / "models").rglob("*.sql"))


@cache
def beside(path: Path) -> dict[str, Any]:
    (model,) = yaml.load(path.with_suffix(".yml").read_text(), contracts.LOADER)["models"]
    return dict(model)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_file_beside_a_model_ends_with_what_one_row_is(path: Path) -> None:
    model = beside(path)
    assert model["name"] == path.stem
    assert "one row per " in model["description"].split(".")[-2].strip().lower()


def test_every_column_that_is_built_is_described_and_no_other(world: Project) -> None:
    built: dict[str, set[str]] = {}
    columns = "select table_name, column_name from duckdb_columns() where not internal and schema_name <> 'changes'"
    for table, column in world.rows(columns):
        built.setdefault(table, set()).add(column)
    for path in MODELS:
        described = {column["name"]: column.get("description") for column in beside(path)["columns"]}
        assert described.keys() == built[path.stem], path.stem
        assert all(described.values()), path.stem


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_comma_cuts_no_description_short(path: Path) -> None:
    """Between braces what follows the comma of a text without quotes is a key, which dbt takes without a word."""
    for column in beside(path)["columns"]:
        assert column.keys() <= {"name", "description", "data_type"}, column


def test_a_list_of_the_values_of_a_column_names_each_of_them_as_it_is_spelt() -> None:
    """What a contract allows, wherever a column of that name lists most of it: a reader filters by these words."""
    told = [(path.stem, one["name"], one["description"]) for path in MODELS for one in beside(path)["columns"]]
    served = contracts.served()
    told += [(name, one.name, one.description) for name, contract in served.items() for one in contract.columns]
    allowed: dict[str, list[set[str]]] = {}
    for contract in chain(contracts.landed().values(), served.values()):
        for column in contract.columns:
            if column.allowed:
                allowed.setdefault(column.name, []).append(set(column.allowed))
    for table, name, description in told:
        words = set(re.findall(r"\w+", description))
        lists = [values for values in allowed.get(name, ()) if len(words & values) > len(values) / 2]
        assert not lists or any(values <= words for values in lists), (table, name, description)


def test_a_column_of_a_mart_that_holds_one_of_some_words_tells_them() -> None:
    """The data docs show no types with their words: whoever filters there has the description alone."""
    marts = {path.stem: path for path in MODELS if path.is_relative_to(PROJECT / "models" / "marts")}
    told = {(name, one["name"]): one["description"] for name, path in marts.items() for one in beside(path)["columns"]}
    closed = [
        (name, column)
        for name, contract in contracts.modelled().items()
        for column in contract.columns
        if column.allowed
    ]
    untold = {
        f"{name}.{column.name}": missing
        for name, column in closed
        if (missing := set(column.allowed) - set(re.findall(r"\w+", told[name, column.name])))
    }
    assert untold == {}


def test_the_channels_of_a_customer_are_told_as_those_of_a_touch() -> None:
    channels = contracts.served()["touches"].column["channel"].allowed
    told = contracts.served()["customers"].column["touch_channels"].description
    assert set(channels) <= set(re.findall(r"\w+", told))


def test_a_column_of_a_served_table_tells_when_it_is_null_if_it_ever_is() -> None:
    tables = contracts.served().items()
    columns = [(f"{name}.{one.name}", one) for name, contract in tables for one in contract.columns]
    assert [
        name for name, one in columns if not one.required and not re.search(r"\bnull\b", one.description, re.I)
    ] == []
    assert [name for name, one in columns if one.required and re.search(r"\bnull\b", one.description, re.I)] == []


def test_a_mart_tells_of_its_columns_what_its_contract_does() -> None:
    for name, contract in contracts.modelled().items():
        (path,) = (path for path in MODELS if path.stem == name)
        told = {column["name"]: column["description"] for column in beside(path)["columns"]}
        assert told == {column.name: column.description for column in contract.columns}, name


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_is_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 90
