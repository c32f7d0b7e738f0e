"""One person is erased: no byte is left anywhere, and nobody's figures move by a cent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from api.app import create_app
from api.db import close_engines
from orchestration import pointer
from orchestration.door import admitted
from orchestration.importer import import_file
from orchestration.lake import Lake
from orchestration.pipeline import run_job
from tests.factories import forgotten
from tests.factories.deployments import migrate
from tests.fixtures.waiting_dbt import waiting_dbt
from touchledger import settings as settings_module
from touchledger.accounts import create_profile, mint_key
from touchledger.settings import Settings

# columns that name a person or count rows of one build; all others must stay as they are
NAMES = {
    "conversions": ("person_ref", "person_key", "conversion_key", "conversion_id", "conversion_ref", "event_key",
                    "path_conversion_key", "outcome_event_id", "inherited_from"),
    "person_identifiers": ("identifier_id", "person_ref", "person_key", "alias_ref"),
    "touches": ("person_key", "touch_id"),
    "paths": ("person_key", "conversion_key"),
    "credit_cents": ("conversion_key",),
    "payments": ("person_ref", "payer_hint", "payment_ref"),
    "orders": ("email_id", "phone_id"),
    "customers": ("person_key", "person_ref"),
    "customer_days": ("person_key",),
}  # fmt: skip
# who the customers are, and when they were there
LISTS = ("customers", "customer_days")
# what a platform may be told a person by: nothing of an erased one is left, and no figure is in it
ALL_NAMES = {"match_keys", "conversion_clicks", *LISTS}


@dataclass
class Forgotten:
    """A deployment before and after an erasure: what was served, and what the receipts said."""

    settings: Settings
    profile_id: str
    before: dict[str, Any]
    after: dict[str, Any]
    found_before: list[str]
    answer: dict[str, Any]
    receipt: dict[str, Any]
    again: int
    served: list[Path]
    lineages: list[str]


def _served(settings: Settings) -> Path:
    current = pointer.read(settings.published)
    assert current is not None
    return settings.published / current.file


def _lineage(settings: Settings) -> str:
    """What the current snapshot has in common with those it was renewed from."""
    with duckdb.connect(str(_served(settings)), read_only=True) as connection:
        return str(connection.execute("select lineage from snapshot").fetchall()[0][0])


def _build(settings: Settings) -> None:
    with waiting_dbt():
        outcome = run_job(settings, "build")
    assert outcome.success, outcome.problems


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forgotten]:
    home = tmp_path_factory.mktemp("forgotten")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHLEDGER_HOME", str(home))
        settings_module.load.cache_clear()
        settings = settings_module.load()
        migrate(settings)
        Lake(settings.lake).prepare()
        profile_id = create_profile(settings, name="p", timezone="UTC", currency="USD")
        secret = mint_key(settings, profile_id=profile_id, scopes=(), name="k", app="Partner")
        forgotten.fill(settings, profile_id)
        lineages = []
        for _ in range(2):
            _build(settings)
            lineages.append(_lineage(settings))
        before, found = forgotten.figures(_served(settings), NAMES), forgotten.left_of(home)
        client, headers = create_app(settings).test_client(), {"Authorization": f"Bearer {secret}"}
        body = {"selector": {"email": forgotten.EMAIL}, "reference": "ticket 12"}
        answer = client.post("/api/v1/customers/erasures", json=body, headers=headers)
        assert answer.status_code == 202, answer.text
        _build(settings)
        lineages.append(_lineage(settings))
        path = f"/api/v1/customers/erasures/{answer.json['data']['erasure_id']}"
        yield Forgotten(
            settings,
            profile_id,
            before,
            forgotten.figures(_served(settings), NAMES),
            found,
            answer.json["data"],
            client.get(path, headers=headers).json["data"],
            client.post("/api/v1/customers/erasures", json=body, headers=headers).status_code,
            sorted(settings.published.glob("served-*.duckdb")),
            lineages,
        )
        close_engines(settings.operational_url)
    settings_module.load.cache_clear()


@pytest.fixture(autouse=True)
def environment_of(shop: Forgotten, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHLEDGER_HOME", str(shop.settings.home))
    settings_module.load.cache_clear()


def test_the_search_finds_every_trace_before_the_erasure(shop: Forgotten) -> None:
    found = {mark for mark in forgotten.MARKS if any(mark.lower() in place for place in shop.found_before)}
    assert found == set(forgotten.MARKS)
    kinds = (
        "operational.db",
        "lake/raw",
        "lake/quarantine",
        "inbox/",
        "warehouse.duckdb",
        "published/names-",
        ".jsonl.gz (unpacked)",
    )
    assert [kind for kind in kinds if not any(kind in place for place in shop.found_before)] == []


def test_no_byte_of_the_person_is_left_under_the_state_folder(shop: Forgotten) -> None:
    assert forgotten.left_of(shop.settings.home) == []


def test_a_payment_assigned_to_the_person_stays_the_persons_under_another_digest(shop: Forgotten) -> None:
    assert forgotten.left_of(shop.settings.home, (forgotten.payer(shop.profile_id),)) == []
    with duckdb.connect(str(shop.settings.warehouse), read_only=True) as warehouse:
        assert warehouse.execute("select payment_ref from intermediate.int_payment_payers").fetchall() == [
            ("bank:sale-t",)
        ]


@pytest.mark.parametrize("table", ["credit_daily", "unattributed_daily", "outcomes_daily"])
def test_the_figures_compared_are_not_empty(shop: Forgotten, table: str) -> None:
    assert len(shop.before[table]) > 3


def test_every_served_figure_is_what_it_was(shop: Forgotten) -> None:
    moved = {name for name, rows in shop.before.items() if rows != shop.after[name]}
    assert moved <= ALL_NAMES


def test_the_erased_person_is_no_customer_any_more_and_everybody_else_still_is(shop: Forgotten) -> None:
    before, after = (Counter(figures["customers"]) for figures in (shop.before, shop.after))
    assert (len(shop.before["customers"]) > 1, (before - after).total(), (after - before).total()) == (True, 1, 0)
    assert not Counter(shop.after["customer_days"]) - Counter(shop.before["customer_days"])


def test_the_receipt_ends_as_completed_with_its_counts(shop: Forgotten) -> None:
    assert (shop.answer["status"], shop.receipt["status"]) == ("received", "completed")
    assert shop.receipt["completed_at"] > shop.receipt["requested_at"]
    counts = shop.receipt["counts"]
    assert (counts["identities_removed"], counts["exports_retained"]) == (6, 0)
    assert counts["touches_anonymised"] == 5
    assert counts["conversions_anonymised"] == 4


def test_only_the_new_snapshot_is_kept(shop: Forgotten) -> None:
    assert shop.served == [_served(shop.settings)]


def test_the_new_snapshot_is_no_copy_of_an_older_file(shop: Forgotten) -> None:
    first, renewed, fresh = shop.lineages
    assert first == renewed != fresh


def test_an_erased_customer_is_unknown_from_then_on(shop: Forgotten) -> None:
    assert shop.again == 404


def test_the_whole_list_of_a_provider_brings_nobody_back_and_moves_no_figure(shop: Forgotten) -> None:
    settings, lake = shop.settings, Lake(shop.settings.lake)
    contract = forgotten_contract("orders")
    rows = admitted(settings.operational_url, lake, contract, shop.profile_id, forgotten.pulled_orders())
    lake.land(dataset="orders", profile_id=shop.profile_id, source="shopify", batch="connection", records=rows)
    crm = settings.home.parent / "crm again.csv"
    crm.write_text(
        "conversion_key,occurred_at,conversion_type,value,currency,payment_ref,email\n"
        f"crm-1,2026-03-21T09:00:00Z,payment_received,12.34,USD,bank:crm-1,{forgotten.EMAIL}\n"
    )
    import_file(settings.operational_url, lake, dataset="conversions", path=crm, profile_id=shop.profile_id)
    _build(settings)
    assert forgotten.left_of(settings.home) == []
    again = forgotten.figures(_served(settings), NAMES)
    assert {name for name, found in again.items() if found != shop.before[name]} <= ALL_NAMES


def forgotten_contract(name: str) -> Any:
    from data_contracts.contract import load

    return load(name)
