"""The contract files: complete, valid by their standard, and each rule known to the code."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest
import yaml

from data_contracts import contract
from data_contracts.rules import RULES

INBOUND = (
    "touches conversions recurring_payments identities people ad_referrals ad_accounts campaigns ad_sets ads creatives "
    "ad_delivery ad_delivery_breakdowns entity_reach products variants orders order_lines fx_rates experiments "
    "experiment_arms"
)
SCHEMA = json.loads(files("open_data_contract_standard").joinpath("schema.json").read_text())
# made once: to look at the standard itself takes longer than to look at a contract
STANDARD = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
FILES = sorted(contract.HOME.glob("*/*.yaml"))


def test_every_inbound_set_has_its_contract() -> None:
    assert set(contract.inbound()) == set(INBOUND.split())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_contract_is_valid_by_the_open_data_contract_standard(path: Path) -> None:
    document = yaml.safe_load(path.read_text())
    STANDARD.validate(document)
    assert yaml.load(path.read_text(), contract.LOADER) == document
    assert document["name"] == document["schema"][0]["name"] == path.stem


@pytest.mark.parametrize("name", sorted(contract.landed()))
def test_a_landed_set_has_a_key_and_every_column_a_description(name: str) -> None:
    found = contract.landed()[name]
    assert found.keys
    assert all(found.column[key].required for key in found.keys)
    assert all(column.description.endswith(".") for column in found.columns)
    assert re.match("One row is .*[.]$", found.grain)


def test_every_rule_of_a_contract_is_in_the_code_and_every_rule_in_the_code_is_in_a_contract() -> None:
    named = {rule.name for one in contract.landed().values() for rule in one.rules}
    assert named == set(RULES)


def test_every_inbound_set_takes_updated_at() -> None:
    assert [name for name, one in contract.inbound().items() if "updated_at" not in one.column] == []


def test_columns_are_typed_for_the_lake() -> None:
    schema = contract.load("ad_delivery").arrow_schema()
    assert schema.field("spend").type == pa.decimal128(18, 4)
    assert schema.field("date").type == pa.date32()
    assert schema.field("clicks").type == pa.int64()
    assert contract.load("fx_rates").arrow_schema().field("rate").type == pa.decimal128(18, 10)
    assert contract.load("touches").arrow_schema().field("occurred_at").type == pa.timestamp("us", tz="UTC")
    assert contract.load("creatives").arrow_schema().field("offers").type == pa.string()


def test_keys_keep_their_order() -> None:
    assert contract.load("ad_delivery_breakdowns").keys == ("platform", "ad_id", "date", "dimension", "value")


def test_an_unknown_name_has_no_contract() -> None:
    with pytest.raises(KeyError, match="no contract is named 'nonsense'"):
        contract.load("nonsense")
