"""PUT /payments/{paymentRef}/payer: who may be named, what is kept of it, and what it starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from api import db
from api.customer_keys import customer_key
from api.erased_records import remember
from api.models import AuditEntry, Erasure, PaymentPayer, Profile, Recompute
from api.scopes import Scope
from api.warehouse_ids import identifier_id, uuid_v8
from tests.api.conftest import Caller
from tests.factories import erasures, served
from touchledger.settings import Settings

PATH = "/payments/bank:1/payer"
SCOPES = (Scope.CUSTOMERS_READ, Scope.ATTRIBUTION_WRITE)
ANN = [("email", "ann@example.com"), ("phone", "+14155550100")]
BOB = [("external_id", "bob-7")]


def person(profile: Profile, identifiers: list[tuple[str, str]]) -> str:
    return uuid_v8(profile.id, "person", ":".join(identifiers[0]))


@pytest.fixture
def clerk(settings: Settings, profile: Profile, caller_with: Callable[..., Caller]) -> Caller:
    known = [
        {"profile_key": 1, "identifier_id": identifier_id(profile.id, kind, value),
         "person_ref": person(profile, who), "alias_ref": uuid_v8(profile.id, "person", f"{kind}:{value}")}
        for who in (ANN, BOB)
        for kind, value in who
    ]  # fmt: skip
    facts = {"profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "currency_digits": 2}
    payment = {"profile_key": 1, "ts": 1, "value": "10", "refunded": "0", "refunded_by_hand": "0", "currency": "USD"}
    tables = {
        "profiles": [{"profile_key": 1, **facts, "settings_version": "v"}],
        "person_identifiers": known,
        "payments": [
            {**payment, "payment_ref": "bank:1"},
            {**payment, "payment_ref": "bank:2", "person_ref": person(profile, BOB)},
        ],
    }
    served.publish(settings.published, tables)
    return caller_with(scopes=SCOPES)


def kept(settings: Settings) -> list[tuple[str, str]]:
    with db.transaction(settings.operational_url) as session:
        return [(one.payment_ref, one.identifier_id) for one in session.scalars(sa.select(PaymentPayer))]


def queued(settings: Settings) -> int:
    with db.transaction(settings.operational_url) as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Recompute)) or 0


def put(clerk: Caller, body: dict[str, Any], path: str = PATH) -> Any:
    return clerk("PUT", path, json=body)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


def test_nobody_assigns_without_a_key_and_both_scopes(
    clerk: Caller, anonymous: Caller, caller_with: Callable[..., Caller]
) -> None:
    body = {"email": "ann@example.com"}
    assert put(anonymous, body).status_code == 401
    for scope, missing in zip(SCOPES, reversed(SCOPES), strict=True):
        refusal = put(caller_with(scopes=(scope,)), body)
        assert code(refusal) == (403, "insufficient_scope")
        assert refusal.json["error"]["required_scopes"] == [missing]


@pytest.mark.parametrize("body", [{"email": " Ann@Example.com"}, {"phone": "+1 415 555 0100"}])
def test_a_payer_is_kept_as_the_digest_of_an_identifier_and_a_build_is_asked_for(
    clerk: Caller, settings: Settings, profile: Profile, body: dict[str, str]
) -> None:
    answer = put(clerk, body)
    assert answer.status_code == 200, answer.text
    assert answer.json["data"] == {
        "payment_ref": "bank:1",
        "customer_key": customer_key(settings, profile.id, person(profile, ANN)),
        "previous_customer_key": None,
    }
    (kind,) = body
    assert kept(settings) == [("bank:1", identifier_id(profile.id, kind, dict(ANN)[kind]))]
    assert queued(settings) == 1


def test_a_customer_key_stands_for_the_identifier_that_gave_the_person_its_id(
    clerk: Caller, settings: Settings, profile: Profile
) -> None:
    key = customer_key(settings, profile.id, person(profile, ANN))
    answer = put(clerk, {"customer_key": key}, "/payments/bank:2/payer").json["data"]
    assert answer["customer_key"] == key
    assert answer["previous_customer_key"] == customer_key(settings, profile.id, person(profile, BOB))
    assert kept(settings) == [("bank:2", identifier_id(profile.id, *ANN[0]))]


def test_a_payer_who_asked_to_be_forgotten_is_not_told_as_the_one_before(
    clerk: Caller, settings: Settings, profile: Profile
) -> None:
    erasures.forget(settings, profile.id, *BOB)
    answer = put(clerk, {"email": "ann@example.com"}, "/payments/bank:2/payer").json["data"]
    assert answer["previous_customer_key"] is None


def test_the_same_payer_again_changes_nothing_and_another_one_replaces_the_first(
    clerk: Caller, settings: Settings, profile: Profile
) -> None:
    ann = put(clerk, {"email": "ann@example.com"}).json["data"]["customer_key"]
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(Recompute).values(status="published"))
    assert put(clerk, {"email": "ann@example.com"}).json["data"]["previous_customer_key"] == ann
    assert queued(settings) == 1
    assert put(clerk, {"external_ref": "bob-7"}).json["data"]["previous_customer_key"] == ann
    assert kept(settings) == [("bank:1", identifier_id(profile.id, *BOB[0]))]
    assert queued(settings) == 2
    with db.transaction(settings.operational_url) as session:
        entries = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "payment.payer_assigned")).all()
        assert sorted(entry.outcome for entry in entries) == ["done", "done", "no_change"]
        assert "example.com" not in str([entry.details for entry in entries])


def test_one_key_is_one_assignment(clerk: Caller, settings: Settings) -> None:
    headers = {"Idempotency-Key": "assign-once-000001"}
    first = clerk("PUT", PATH, json={"email": "ann@example.com"}, headers=headers)
    put(clerk, {"external_ref": "bob-7"})
    again = clerk("PUT", PATH, json={"email": "ann@example.com"}, headers=headers)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json["data"] == first.json["data"]
    assert len(kept(settings)) == 1


def test_what_cannot_be_assigned_is_refused_and_nothing_is_kept(
    clerk: Caller, settings: Settings, profile: Profile
) -> None:
    foreign = customer_key(settings, "01900000-0000-7000-8000-0000000000ff", person(profile, ANN))
    merged = customer_key(settings, profile.id, uuid_v8(profile.id, "person", "email:gone@example.com"))
    for key in (foreign, merged, "ck_nonsense"):
        assert code(put(clerk, {"customer_key": key})) == (422, "customer_not_in_profile")
    assert code(put(clerk, {"email": "nobody@example.com"})) == (422, "customer_not_in_profile")
    assert code(put(clerk, {"external_ref": "nobody"})) == (422, "unknown_customer_ref")
    ann = {"email": "ann@example.com"}
    assert code(put(clerk, ann, "/payments/bank/payer")) == (422, "payment_ref_invalid")
    assert code(put(clerk, ann, "/payments/bank:404/payer")) == (404, "conversion_not_found")
    for body in ({}, {**ann, "external_ref": "bob-7"}, {"email": "ann"}):
        assert code(put(clerk, body)) == (422, "validation_error")
    assert kept(settings) == []
    assert queued(settings) == 0


def test_somebody_who_is_being_erased_is_nobody(clerk: Caller, settings: Settings, profile: Profile) -> None:
    with db.transaction(settings.operational_url) as session:
        erasure = Erasure(profile_id=profile.id, reason="data_subject_request", due_at=db.now(), counts={})
        session.add(erasure)
        session.flush()
        ids = [identifier_id(profile.id, kind, value) for kind, value in ANN]
        remember(session, settings.signing_key(), profile_id=profile.id, erasure_id=erasure.id, ids=ids)
    assert code(put(clerk, {"email": "ann@example.com"})) == (422, "customer_not_in_profile")
