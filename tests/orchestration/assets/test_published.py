"""What the publication tells of each served contract on Dagster's pages."""

from __future__ import annotations

import dagster as dg

from data_contracts.contract import served
from orchestration import pointer
from orchestration.assets.published import on_rates, published, verdicts
from tests.factories import served as served_file
from touchledger.settings import Settings


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


def test_money_that_no_rate_converts_warns_and_is_named(settings: Settings) -> None:
    # payments of a shop in another currency were counted and worth 0 while every page was green
    def told(unrated_through: str | None) -> dg.AssetCheckResult:
        paid = {"profile_key": 1, "conversion_key": 1, "conversion_ref": "store:1", "day": "2026-11-02"}
        paid |= {"occurred_at": "2026-11-02 10:00:00", "conversion_type": "payment_received"}
        served_file.publish(
            settings.published,
            {
                "profiles": [{"profile_key": 1, "profile_id": "p1", "currency": "MXN"}],
                "conversions": [{**paid, "unrated_through": unrated_through}],
                "payments": [
                    {"profile_key": 1, "payment_ref": "store:1", "currency": "EUR", "value": 1, "refunded": 0}
                ],
            },
        )
        current = pointer.read(settings.published)
        assert current is not None
        return on_rates(settings.published / current.file, settings)

    warned = told("2026-11-02")
    assert (warned.passed, warned.severity) == (False, dg.AssetCheckSeverity.WARN)
    # the page showed JSON once it was asked for, and named nothing before
    table = warned.metadata["money without a rate"]
    assert isinstance(table, dg.TableMetadataValue)
    assert [one.data for one in table.records] == [
        {
            "profile_id": "p1",
            "money": "payment_received",
            "currency": "EUR",
            "amounts": "1",
            "newest_day": "2026-11-02",
        }
    ]
    assert told(None).passed
