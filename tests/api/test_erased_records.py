"""A person taken out of the operational database: what was entered about their payments goes with them."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.erased import Person
from api.erased_records import erased_digests, redact_records
from api.models import CollectedEvent, Import, IngestedRecord, ManualRefund, Profile
from api.v1.events.ingest import accept
from api.warehouse_ids import identifier_id
from tests.factories import accounts, erasures
from tests.fixtures.statements import statements
from touchledger.settings import Settings

EMAIL = "ann@example.com"
SALE = {
    "conversion_key": "s1",
    "conversion_type": "payment_received",
    "occurred_at": "2026-03-01T09:00:00Z",
    "value": "9.00",
    "currency": "USD",
    "payment_ref": "bank:1",
}


@pytest.mark.parametrize(
    ("dataset", "record", "ref"),
    [
        ("conversions", {"conversion_key": "s1", "payment_ref": "bank:771"}, "bank:771"),
        ("conversions", {"conversion_key": "s1", "order_ref": "#1001"}, "order:#1001"),
        ("orders", {"connection_ref": "shop", "order_id": "5610", "order_ref": "#1"}, "store:5610"),
    ],
)
def test_what_was_noted_of_the_persons_refund_goes_and_of_others_stays(
    settings: Settings, profile: Profile, dataset: str, record: dict[str, Any], ref: str
) -> None:
    sale = {"conversion_type": "payment_received", "occurred_at": "2026-03-01T09:00:00Z", "value": "9.00"}
    order = {"created_at": sale["occurred_at"], "updated_at": sale["occurred_at"], "financial_status": "paid"}
    more = sale if dataset == "conversions" else {**order, "total": "9.00"}
    given = {**more, **record, "currency": "USD", "email": EMAIL}
    with db.transaction(settings.operational_url) as session:
        assert not accept(session, profile_id=profile.id, dataset=dataset, records=[given]).rejected
        for of in (ref, "bank:another"):
            entered = ManualRefund(profile_id=profile.id, payment_ref=of, amount=1, currency="USD")
            entered.note, entered.refunded_at = "As Ann wished", db.now()
            session.add(entered)
    ids = frozenset({identifier_id(profile.id, "email", EMAIL)})
    with db.transaction(settings.operational_url) as session:
        redact_records(session, Person(profile.id, b"secret", ids))
    with db.transaction(settings.operational_url) as session:
        left = {one.payment_ref: one.note for one in session.scalars(sa.select(ManualRefund))}
    assert left == {ref: None, "bank:another": "As Ann wished"}


def test_a_text_that_grows_with_the_random_name_still_fits_its_column(database_url: str) -> None:
    profile = accounts.profile(database_url)
    person = Person(profile.id, b"secret", frozenset({identifier_id(profile.id, "email", EMAIL)}))
    person.learn("email", EMAIL)
    told = f"list of {EMAIL}".ljust(255, "-")
    with db.transaction(database_url) as session:
        session.add(
            Import(
                profile_id=profile.id, scope=profile.id, dataset="people", sha256="5e", status="rejected",
                file_name=told, reason=f"{told}: ".ljust(500, "-"),
            )
        )  # fmt: skip
        entered = ManualRefund(profile_id=profile.id, payment_ref="bank:1", amount=1, currency="USD")
        entered.note, entered.refunded_at = f"{EMAIL} wrote".ljust(500, "-"), db.now()
        session.add(entered)
    with db.transaction(database_url) as session:
        redact_records(session, person)
    with db.transaction(database_url) as session:
        imported, entered = session.scalars(sa.select(Import)).one(), session.scalars(sa.select(ManualRefund)).one()
    lengths = [len(str(text)) for text in (imported.file_name, imported.reason, entered.note)]
    assert lengths == [255, 500, 500]
    assert EMAIL not in f"{imported.file_name} {imported.reason} {entered.note}"


def test_what_comes_in_is_asked_for_among_the_erased_and_they_are_not_all_read(
    settings: Settings, profile: Profile
) -> None:
    # with 60,000 identifiers of erased people each event of the profile read all of them
    erasures.forget(settings, profile.id, ("email", EMAIL), *(("external_id", f"crm-{n}") for n in range(20)))
    with db.transaction(settings.operational_url) as session:
        assert len(erased_digests(session, profile.id)) == 21
        with statements(db.engine_for(settings.operational_url)) as run:
            records = [{**SALE, "email": EMAIL, "external_id": "crm-99"}]
            assert accept(session, profile_id=profile.id, dataset="conversions", records=records).accepted == 1
        kept = session.scalars(sa.select(IngestedRecord.record)).one()
    assert (kept.get("email"), kept["external_id"]) == (None, "crm-99")
    asked = [text for text, _ in run if "FROM erased_identifiers" in text]
    assert asked and all("LIMIT" in text or "digest IN" in text for text in asked)


@pytest.mark.parametrize("event_id", ["JOSÉ.NÚÑEZ@example.com-1", "JOS%C3%89.N%C3%9A%C3%91EZ%40example.com-1"])
def test_an_event_id_that_spells_the_person_in_capitals_beyond_ascii_is_renamed(
    database_url: str, event_id: str
) -> None:
    # SQLite folds the letters of ASCII only, and no database those of an address
    profile = accounts.profile(database_url)
    name = "josé.núñez@example.com"
    with db.transaction(database_url) as session:
        for number in (event_id, "visit_100%_of-jos-nez@example.com"):
            session.add(CollectedEvent(profile_id=profile.id, event_id=number, event_name="lead", occurred_at=db.now()))
        session.flush()
        person = Person(profile.id, b"secret", frozenset({identifier_id(profile.id, "email", name)}))
        person.learn("email", name)
        redact_records(session, person)
        found = set(session.scalars(sa.select(CollectedEvent.event_id)))
    assert event_id not in found and "visit_100%_of-jos-nez@example.com" in found
