"""The tables the API reads are the ones the contracts promise, in both directions."""

from __future__ import annotations

import pytest

from api import served
from api.snapshot import Snapshots
from data_contracts import contract
from tests.factories import served as published
from touchledger.settings import Settings

CONTRACTS = contract.served()


def test_every_served_contract_is_a_table_of_the_api_and_the_other_way_round() -> None:
    assert {*served.TABLES, *served.NAMED} == {*CONTRACTS, "snapshot"}
    assert set(served.NAMED) == {name for name, one in CONTRACTS.items() if one.names_people}


@pytest.mark.parametrize("table", sorted(CONTRACTS))
def test_a_table_has_the_columns_of_its_contract(table: str) -> None:
    assert set({**served.TABLES, **served.NAMED}[table]) == {column.name for column in CONTRACTS[table].columns}


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


def test_facts_of_a_profile_are_looked_up_once_per_snapshot(snapshots: Snapshots, bare: Settings) -> None:
    profile = {"profile_key": 7, "profile_id": "p", "currency": "USD", "currency_digits": 2, "settings_version": "one"}
    published.publish(bare.published, {"profiles": [profile]}, token=1)
    with snapshots.reader() as reader:
        assert reader
        first = served.profile_facts(reader, "p")
        assert first
        assert (first.profile_key, first.settings_version) == (7, "one")
        assert served.profile_facts(reader, "nobody") is None
    with snapshots.reader() as reader:
        assert reader
        assert served.profile_facts(reader, "p") is first
    published.publish(bare.published, {"profiles": [{**profile, "settings_version": "two"}]}, token=2)
    with snapshots.reader() as reader:
        assert reader
        second = served.profile_facts(reader, "p")
        assert second
        assert second.settings_version == "two"
