"""Marts and served contracts say the same: tables, columns, types and grain, in both directions."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jinja2
import pytest
import yaml

from api.v1.campaigns import queries as campaigns
from data_contracts import contract as contracts
from orchestration.dbt_manifest import PROJECT

MARTS = PROJECT / "models" / "marts"


@cache
def marts() -> dict[str, dict[str, Any]]:
    found = [
        model for path in MARTS.rglob("*.yml") for model in yaml.load(path.read_text(), contracts.LOADER)["models"]
    ]
    return {model["name"]: model for model in found}


def readers() -> dict[str, set[str]]:
    """The marts that each exposure names."""
    found = yaml.load((PROJECT / "models" / "exposures.yml").read_text(), contracts.LOADER)["exposures"]
    return {one["name"]: {ref.removeprefix("ref('").removesuffix("')") for ref in one["depends_on"]} for one in found}


def test_every_mart_is_served_and_every_served_table_is_a_mart_or_a_fit() -> None:
    assert marts().keys() == contracts.modelled().keys()
    assert {*contracts.modelled(), *contracts.FITTED} == contracts.served().keys()


def test_every_mart_has_a_reader_by_name() -> None:
    assert marts().keys() <= set().union(*readers().values())


def test_the_trend_is_told_to_read_what_its_statement_names() -> None:
    named = set(re.findall(r"\b(?:from|join) (\w+)", campaigns.TREND))
    assert readers()["get_campaigns_trend"] == {"profiles", *named}


@pytest.mark.parametrize("name", sorted(contracts.modelled()))
def test_columns_and_types_of_the_mart_are_those_of_its_contract(name: str) -> None:
    promised = [(column.name, column.physical) for column in contracts.served()[name].columns]
    assert [(column["name"], _on_duckdb(column["data_type"])) for column in marts()[name]["columns"]] == promised


@pytest.mark.parametrize("name", sorted(contracts.served()))
def test_the_contract_says_what_one_row_is_and_names_its_key(name: str) -> None:
    contract = contracts.served()[name]
    assert contract.grain.startswith("One row per ")
    # it stands alone in docs/data.md, without the sentences that a mart's description has before it
    assert not re.search(r"\bsuch\b", contract.grain)
    assert contract.keys and all(contract.column[key].required for key in contract.keys)


@pytest.mark.parametrize("name", sorted(contracts.served()))
def test_converted_money_that_may_be_null_is_said_to_need_a_rate(name: str) -> None:
    # a budget is told in the currency of its account
    columns = [column for column in contracts.served()[name].columns if column.name.endswith("_minor")]
    converted = [column for column in columns if not column.required and "budget" not in column.name]
    assert [column.name for column in converted if "rate" not in column.description.split(" ")] == []


def _on_duckdb(data_type: str) -> str:
    """A type that differs by engine is told by an expression."""
    return jinja2.Template(data_type).render(target={"type": "duckdb"})
