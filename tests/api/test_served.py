"""The tables the API reads are the ones the contracts promise, in both directions."""

from __future__ import annotations

import pytest

from api import served
from data_contracts import contract

CONTRACTS = contract.served()


def test_every_served_contract_is_a_table_of_the_api_and_the_other_way_round() -> None:
    assert set(served.TABLES) == {*CONTRACTS, "snapshot"}


@pytest.mark.parametrize("table", sorted(CONTRACTS))
def test_a_table_has_the_columns_of_its_contract(table: str) -> None:
    assert set(served.TABLES[table]) == {column.name for column in CONTRACTS[table].columns}


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("credit_daily", "model", served.MODELS),
        ("credit_daily", "level", served.LEVELS),
        ("unattributed_daily", "reason", served.REASONS),
        ("unattributed_daily", "level", served.LEVELS),
        ("entities", "level", served.LEVELS),
    ],
)
def test_the_words_of_a_column_are_those_of_its_contract(table: str, column: str, words: tuple[str, ...]) -> None:
    allowed = next(one.allowed for one in CONTRACTS[table].columns if one.name == column)
    assert set(allowed) == set(words)
