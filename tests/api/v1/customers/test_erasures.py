"""POST /customers/erasures and its receipt: who may ask, whom it finds, and what goes at once."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.customer_keys import customer_key
from api.models import (
    AuditEntry,
    ErasedIdentifier,
    Erasure,
    IdempotencyRecord,
    IngestedRecord,
    ManualRefund,
    PaymentPayer,
    Profile,
)
from api.scopes import Scope
from api.v1.events.ingest import accept
from api.warehouse_ids import identifier_id
from data_contracts.judge import MISSING_OR_ERASED
from tests.api.conftest import Caller
from tests.api.v1.customers.conftest import EMAIL, partner_key
from tests.factories import accounts, exports
from touchledger.settings import Settings

PATH = "/customers/erasures"
NAME = {
    "name_key": "e-1",
    "told_at": "2026-03-01T09:00:00Z",
    "event_origin": "server",
    "first_name": "Annabel",
    "email": EMAIL,
}


def send(settings: Settings, profile: Profile, dataset: str, *records: dict[str, Any]) -> Any:
    with db.transaction(settings.operational_url) as session:
        return accept(session, profile_id=profile.id, dataset=dataset, records=records)


def visit(key: str, **more: Any) -> dict[str, Any]:
    return {"touch_key": key, "occurred_at": "2026-03-01T09:00:00Z", "channel": "web", "origin": "web", **more}


def kept(settings: Settings) -> str:
    with db.transaction(settings.operational_url) as session:
        return repr([(row.record_key, row.record) for row in session.scalars(sa.select(IngestedRecord))])


def ask(caller: Caller, **selector: str) -> Any:
    return caller.post(PATH, json={"selector": selector})


def test_nobody_erases_without_a_key(anonymous: Caller) -> None:
    assert ask(anonymous, email=EMAIL).status_code == 401
    assert anonymous.get(f"{PATH}/{uuid.uuid4()}").status_code == 401


def test_a_key_that_no_app_holds_is_refused_before_anything_is_looked_at(caller: Caller) -> None:
    for answer in (caller.post(PATH, json={"nonsense": 1}), caller.get(f"{PATH}/not-a-uuid")):
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "api_key_required")


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"email": EMAIL, "phone": "+14155550123"},
        {"email": "no address"},
        {"phone": "555"},
        {"name": "Ann"},
    ],
)
def test_a_selector_names_one_person_in_one_way(partner: Caller, selector: dict[str, str]) -> None:
    answer = ask(partner, **selector)
    assert (answer.status_code, answer.json["error"]["code"]) == (422, "validation_error")
    assert "selector" in answer.json["error"]["message"]


def test_an_unknown_customer_is_not_found(partner: Caller, person: str, settings: Settings, profile: Profile) -> None:
    stranger = customer_key(settings, profile.id, str(uuid.uuid4()))
    for selector in ({"email": "x@example.com"}, {"external_ref": "crm-78"}, {"customer_key": stranger}):
        answer = ask(partner, **selector)
        assert (answer.status_code, answer.json["error"]["code"]) == (404, "customer_not_found")


def test_another_profiles_customer_and_receipt_are_not_found(
    client: FlaskClient, settings: Settings, partner: Caller, person: str
) -> None:
    erasure_id = ask(partner, email=EMAIL).json["data"]["erasure_id"]
    stranger = Caller(client, partner_key(settings, accounts.profile(settings.operational_url, name="Other")))
    assert ask(stranger, external_ref="crm-77").json["error"]["code"] == "customer_not_found"
    assert stranger.get(f"{PATH}/{erasure_id}").json["error"]["code"] == "erasure_not_found"
    assert partner.get(f"{PATH}/{erasure_id}").status_code == 200


@pytest.mark.parametrize("selector", ["customer_key", "external_ref", "email", "phone"])
def test_the_receipt_is_given_for_each_way_to_name_a_customer(
    partner: Caller, person: str, settings: Settings, profile: Profile, selector: str
) -> None:
    values = {
        "customer_key": customer_key(settings, profile.id, person),
        "external_ref": "crm-77",
        "email": " Ann@Example.com",
        "phone": "+1 415 555 0123",
    }
    answer = ask(partner, **{selector: values[selector]})
    assert answer.status_code == 202
    receipt = answer.json["data"]
    assert (receipt["status"], receipt["completed_at"], receipt["reference"]) == ("received", None, None)
    assert receipt["counts"]["identities_removed"] == 3
    assert partner.get(f"{PATH}/{receipt['erasure_id']}").json["data"] == receipt


def test_the_document_says_that_no_token_of_a_link_is_counted(partner: Caller, person: str) -> None:
    schema = partner.client.get("/openapi.json").json["components"]["schemas"]["Counts"]["properties"]["tokens_voided"]
    assert schema["description"].startswith("Always 0: ")
    assert ask(partner, email=EMAIL).json["data"]["counts"]["tokens_voided"] == 0


def test_the_document_says_what_an_erasure_waits_for(partner: Caller) -> None:
    # it stays received for as long as nobody builds
    schemas = partner.client.get("/openapi.json").json["components"]["schemas"]
    assert (
        "received: files and figures wait for the next build"
        in schemas["Receipt"]["properties"]["status"]["description"]
    )


def test_the_receipt_counts_what_stays_in_the_ledger_of_exports(
    partner: Caller, person: str, settings: Settings, profile: Profile
) -> None:
    for name in ("hers", "another's"):
        exports.row(
            settings.operational_url, exports.destination(settings.operational_url, profile), conversion_id=name
        )
    assert ask(partner, email=EMAIL).json["data"]["counts"]["exports_retained"] == 1


def test_what_waits_here_loses_the_person_at_once_and_nobody_else(
    partner: Caller, person: str, settings: Settings, profile: Profile
) -> None:
    send(
        settings, profile, "touches",
        visit("a", email="ANN@example.com", click_id="click-of-ann", x_page="/private"),
        visit("b", email="bob@example.com", click_id="click-of-bob", x_page="/bob"),
    )  # fmt: skip
    answer = ask(partner, email=EMAIL)
    assert answer.json["data"]["counts"]["events_redacted"] == 1
    text = kept(settings)
    assert [mark for mark in ("ann@", "ANN@", "click-of-ann", "/private") if mark in text] == []
    assert [mark for mark in ("bob@example.com", "click-of-bob", "/bob") if mark not in text] == []


def test_who_was_typed_and_known_for_certain_is_erased_from_both_statements(
    partner: Caller, person: str, settings: Settings, profile: Profile
) -> None:
    said = {"kind_a": "anonymous_id", "value_a": "b1", "kind_b": "email", "value_b": EMAIL}
    for confidence in ("typed", "certain"):
        stated = {**said, "observed_at": "2026-03-01T09:00:00Z", "confidence": confidence}
        assert send(settings, profile, "identities", stated).accepted == 1
    assert ask(partner, email=EMAIL).status_code == 202
    left = kept(settings)
    assert EMAIL not in left and left.count("@erased.example") == 4


def test_a_person_who_was_only_just_sent_is_erased_too(partner: Caller, settings: Settings, profile: Profile) -> None:
    send(settings, profile, "touches", visit("a", email="fresh@example.com"))
    assert ask(partner, email="fresh@example.com").status_code == 202
    assert "fresh@" not in kept(settings)


def test_a_reference_finds_its_person_in_whatever_form_it_is_spelt(
    partner: Caller, settings: Settings, profile: Profile
) -> None:
    send(settings, profile, "touches", visit("t1", external_id="Zoe\u0308-77"))
    assert ask(partner, external_ref=" Zoe\u0308-77").status_code == 202


def test_a_key_that_holds_the_address_is_renamed_beside_an_identifier_nobody_knew(
    partner: Caller, settings: Settings, profile: Profile
) -> None:
    who = {"email": "fresh@example.com", "external_id": "crm-new"}
    send(settings, profile, "touches", visit("visit of fresh@example.com", **who), visit("fresh@example.com again"))
    assert ask(partner, email="fresh@example.com").status_code == 202
    assert "fresh@" not in kept(settings)


def test_somebody_sent_under_keys_that_differ_in_their_capitals_alone_is_erased(
    partner: Caller, settings: Settings, profile: Profile
) -> None:
    keys = (EMAIL, EMAIL.title())
    send(settings, profile, "touches", *(visit(f"visit of {key}", email=EMAIL) for key in keys))
    send(settings, profile, "people", *({"person_key": key, "email": EMAIL} for key in keys))
    assert ask(partner, email=EMAIL).status_code == 202
    with db.transaction(settings.operational_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(IngestedRecord)) == 4
    assert EMAIL not in kept(settings).lower()


def test_answers_kept_for_replay_lose_the_person_with_their_key(
    client: FlaskClient, settings: Settings, profile: Profile, partner: Caller
) -> None:
    url = settings.operational_url
    sender = Caller(client, accounts.secret(url, profile, scopes=[Scope.EVENTS_WRITE]))
    event = {"event_name": "lead_created", "timestamp": "2026-03-01T09:00:00Z", "user_traits": {"email": EMAIL}}
    for key in (f"lead:{EMAIL}", "first"):
        assert sender.post("/events", json=event, headers={"Idempotency-Key": key}).status_code == 202
    with db.transaction(url) as session:
        answer = session.scalars(sa.select(IdempotencyRecord).where(IdempotencyRecord.key == "first")).one()
        answer.body = str(answer.body).replace('"first"', f'"{EMAIL}"')
    foreign = accounts.profile(url, name="Other")
    other = Caller(client, accounts.secret(url, foreign, scopes=[Scope.EVENTS_WRITE]))
    assert other.post("/events", json=event, headers={"Idempotency-Key": EMAIL}).status_code == 202
    own = {"Idempotency-Key": f"erase {EMAIL}"}
    assert partner.post(PATH, json={"selector": {"email": EMAIL}}, headers=own).status_code == 202
    with db.transaction(url) as session:
        rows = session.scalars(sa.select(IdempotencyRecord).order_by(IdempotencyRecord.key))
        told = {row.key: EMAIL in str(row.body) for row in rows}
    # what another profile keeps stays, and the erasure's own claim until it is a day old
    assert told == {"first": False, EMAIL: True, f"erase {EMAIL}": False}


def test_what_events_called_the_person_goes_at_once(partner: Caller, settings: Settings, profile: Profile) -> None:
    send(settings, profile, "personal_names", NAME)
    assert ask(partner, email=EMAIL).status_code == 202
    text = kept(settings)
    assert "e-1" in text and not [mark for mark in (EMAIL, "Annabel") if mark in text]


def test_what_was_entered_about_a_payment_follows_the_payment(
    partner: Caller, settings: Settings, profile: Profile
) -> None:
    send(settings, profile, "touches", visit("a", email=EMAIL))
    ref, at = f"bank:{EMAIL}", db.now()
    with db.transaction(settings.operational_url) as session:
        session.add(PaymentPayer(profile_id=profile.id, payment_ref=ref, identifier_id="somebody"))
        refund = ManualRefund(profile_id=profile.id, payment_ref=ref, amount=1, currency="USD", refunded_at=at)
        refund.note = f"As {EMAIL} asked"
        session.add(refund)
    assert ask(partner, email=EMAIL).status_code == 202
    with db.transaction(settings.operational_url) as session:
        payer, refund = session.scalars(sa.select(PaymentPayer)).one(), session.scalars(sa.select(ManualRefund)).one()
        assert payer.payment_ref == refund.payment_ref
        assert [text for text in (refund.payment_ref, str(refund.note)) if "ann@" in text] == []


def test_the_erased_cannot_be_erased_again_or_sent_again(
    partner: Caller, person: str, settings: Settings, profile: Profile
) -> None:
    assert ask(partner, email=EMAIL).status_code == 202
    assert ask(partner, external_ref="crm-77").json["error"]["code"] == "customer_not_found"
    late = visit("late", email=EMAIL, external_id="crm-77", anonymous_id="new-device", x_page="/private")
    send(settings, profile, "touches", late)
    send(settings, profile, "people", {"person_key": "p9", "email": EMAIL, "first_name": "Annabel"})
    send(settings, profile, "personal_names", {**NAME, "name_key": "p9"})
    identity = {"kind_a": "email", "value_a": EMAIL, "kind_b": "phone", "value_b": "+14155550199"}
    outcome = send(settings, profile, "identities", {**identity, "observed_at": "2026-03-01T09:00:00Z"})
    assert [(one.field, one.reason) for one in outcome.rejected] == [("value_a", MISSING_OR_ERASED)]
    text = kept(settings)
    assert "late" in text and "new-device" in text
    assert [mark for mark in (EMAIL, "crm-77", "/private", "Annabel", "+14155550199") if mark in text] == []


def test_whoever_was_erased_is_in_no_key_and_no_label_that_is_sent_later(
    partner: Caller, person: str, settings: Settings, profile: Profile
) -> None:
    assert ask(partner, email=EMAIL).status_code == 202
    who = {"email": "Ann@example.com", "anonymous_id": "new-device"}
    late = visit(f"visit of {EMAIL}", utm_content="to=ann%40example.com", utm_term="joann@example.com", **who)
    outcomes = [send(settings, profile, "touches", late) for _ in range(2)]
    # sent again it is the same
    assert [(one.accepted, one.duplicates, one.rejected) for one in outcomes] == [(1, 0, []), (0, 1, [])]
    with db.transaction(settings.operational_url) as session:
        (row,) = session.scalars(sa.select(IngestedRecord).where(IngestedRecord.record.is_not(None)))
    assert row.record_key == row.record["touch_key"]
    assert (row.record["anonymous_id"], row.record["utm_term"]) == ("new-device", "joann@example.com")
    text = repr((row.record_key, {**row.record, "utm_term": None})).lower()
    assert [mark for mark in ("ann@", "ann%40") if mark in text] == []


def test_only_keyed_hashes_are_kept_and_the_trail_names_nobody(
    partner: Caller, person: str, settings: Settings, profile: Profile
) -> None:
    ask(partner, email=EMAIL)
    with db.transaction(settings.operational_url) as session:
        digests = session.scalars(sa.select(ErasedIdentifier.digest)).all()
        entries = [entry.details for entry in session.scalars(sa.select(AuditEntry))]
        erasure = session.scalars(sa.select(Erasure)).one()
    assert len(digests) == 3
    assert not set(digests) & {identifier_id(profile.id, "email", EMAIL)}
    assert entries == [{"target": {"kind": "erasure", "id": erasure.id, "label": None}}]
    assert str(erasure.secret) not in repr(erasure)
