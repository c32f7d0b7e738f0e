"""What the publication tells of each served contract on Dagster's pages."""

from __future__ import annotations

from data_contracts.contract import served
from orchestration.assets.published import published, verdicts


def test_a_broken_contract_is_told_by_its_own_check_and_by_no_other() -> None:
    twice, absent = "entities: more than one row for (profile_key) = (1)", "entities.name: 3 rows without a value"
    told = {one.check_name: one for one in verdicts([twice, "entity_reach.reach: 1 row without a value", absent])}
    assert told.keys() == {f"contract_{name}" for name in served()}
    assert {name for name, one in told.items() if not one.passed} == {"contract_entities", "contract_entity_reach"}
    assert told["contract_entities"].description == f"{twice}; {absent}"
    assert told["contract_profiles"].description is None


def test_a_check_names_its_contract_and_what_it_looks_at() -> None:
    told = {spec.name: spec.description or "" for spec in published.check_specs}
    assert told["contract_profiles"].startswith("Keeps served/profiles.yaml: its columns and types, ")
    assert told["contract_profiles"].endswith("none that it rules out, and no key twice. One row per active profile.")
