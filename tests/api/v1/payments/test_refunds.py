"""Refunds entered by hand: two people at once, parts of a coin, and payments that get another name."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
import sqlalchemy as sa
from marshmallow import ValidationError
from sqlalchemy.orm import Session

from api import db, errors
from api.models import AuditEntry, IngestedRecord, ManualRefund, Profile
from api.scopes import Scope
from api.v1.payments import refunds
from api.v1.payments.schemas import RefundBody
from api.warehouse_ids import identifier_id, uuid_v8
from tests.api.conftest import Caller
from tests.factories import accounts, served
from tests.fixtures.at_once import one_behind_the_other
from touchledger.settings import Settings


def test_a_refund_withdrawn_twice_at_once_is_withdrawn_once(database_url: str) -> None:
    profile = accounts.profile(database_url)
    with db.transaction(database_url) as session:
        refund = ManualRefund(profile_id=profile.id, payment_ref="bank:1", currency="USD", refunded_at=db.now())
        refund.amount = Decimal(5)
        session.add(refund)

    def withdraw(session: Session) -> bool:
        found = refunds.standing(session, profile.id, ["bank:1"], locked=True).get("bank:1")
        if found is not None:
            refunds.withdraw(session, found)
        return found is not None

    assert one_behind_the_other(database_url, withdraw) == (True, False)
    with db.transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(IngestedRecord)) == 1


@pytest.mark.parametrize(
    ("refunded", "currency", "most", "beyond"),
    [
        # of 33.33, of which a refund in another currency took a share
        ("8.4304", "USD", "24.90", "24.91"),
        ("8.4396", "USD", "24.89", "24.90"),
        ("8.5000", "JPY", "25", "26"),
    ],
)
def test_the_most_that_can_be_refunded_is_what_is_left_as_it_is_told(
    refunded: str, currency: str, most: str, beyond: str
) -> None:
    sums = {"value": Decimal("33.33"), "refunded": Decimal(refunded), "refunded_by_hand": Decimal(0)}
    payment = {**sums, "currency": currency}
    with pytest.raises(errors.ApiError, match=f"at most {most}"):
        refunds.possible({"amount": beyond, "currency": currency}, payment)
    assert refunds.possible({"amount": most, "currency": currency}, payment) == Decimal(most)
    assert refunds.left_by_others(payment) == Decimal(most)


@pytest.mark.parametrize(
    ("value", "currency", "amount", "sent"),
    [
        ("10.0050", "EUR", "10.00", "10.0050"),
        ("100.5000", "JPY", "100", "100.5000"),
        ("10.0150", "EUR", "10.02", "10.02"),
        ("10.0050", "EUR", "9.99", "9.99"),
    ],
)
def test_a_payment_refunded_in_full_keeps_no_part_of_a_coin(
    sqlite_url: str, value: str, currency: str, amount: str, sent: str
) -> None:
    profile = accounts.profile(sqlite_url)
    payment = {"value": Decimal(value), "refunded": Decimal(0), "refunded_by_hand": Decimal(0), "currency": currency}
    body = {"amount": amount, "currency": currency, "refunded_at": None, "note": None}
    asked = refunds.possible(body, payment)
    with db.transaction(sqlite_url) as session:
        takes = refunds.taken(asked, payment)
        entered = refunds.enter(session, profile.id, "bank:1", asked, body, takes=takes)
        assert entered.amount == Decimal(amount)
        refunds.withdraw(session, entered)
        records = [kept.record for kept in session.scalars(sa.select(IngestedRecord).order_by(IngestedRecord.id))]
    assert records[0]["value"] == sent
    assert [record.get("_deleted") for record in records] == [None, True]


@pytest.mark.parametrize("amount", ["\u0665", "1\u0660", "1.\u0967", "\uff15"])
def test_an_amount_is_written_in_digits_of_ascii(amount: str) -> None:
    with pytest.raises(ValidationError):
        RefundBody().load({"amount": amount, "currency": "USD"})
    assert RefundBody().load({"amount": "5.10", "currency": "USD"})["amount"] == "5.10"


def test_nothing_is_given_back_on_a_day_before_it_was_paid(
    caller_with: Callable[..., Caller], settings: Settings, profile: Profile
) -> None:
    clerk = caller_with(scopes=[Scope.CUSTOMERS_READ, Scope.ATTRIBUTION_WRITE])
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    # 2026-11-16 10:00:00
    sold = {"profile_key": 1, "ts": 1794823200, "value": "20", "refunded": "0", "refunded_by_hand": "0"}
    tables = {"profiles": [facts], "payments": [{**sold, "currency": "USD", "payment_ref": "bank:1"}]}
    served.publish(settings.published, tables)
    asked = {"amount": "5.00", "currency": "USD"}
    early = clerk.post("/payments/bank:1/refund", json={**asked, "refunded_at": "2026-11-15T09:59:59+01:00"})
    assert (early.status_code, early.json["error"]["code"]) == (422, "validation_error")
    said = "refunded_at: is before the payment, which was made at 2026-11-16T10:00:00.000Z"
    assert early.json["error"]["message"] == said
    assert clerk.get("/payments").json["data"][0]["manual_refund"] is None
    # a person, and many a store, knows the day of a refund and no time
    that_day = clerk.post("/payments/bank:1/refund", json={**asked, "refunded_at": "2026-11-16T00:00:00+01:00"})
    assert that_day.status_code == 201
    assert clerk.get("/payments").json["data"][0]["manual_refund"]["at"] == "2026-11-15T23:00:00.000Z"


def test_a_refund_entered_before_its_payment_got_another_name_is_shown_held_to_and_withdrawn(
    caller_with: Callable[..., Caller], settings: Settings, profile: Profile
) -> None:
    clerk = caller_with(scopes=[Scope.CUSTOMERS_READ, Scope.ATTRIBUTION_WRITE])
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    sold = {"profile_key": 1, "ts": 1, "value": "20", "refunded": "0", "refunded_by_hand": "0", "currency": "USD"}
    served.publish(settings.published, {"profiles": [facts], "payments": [{**sold, "payment_ref": "store:5"}]})
    asked = {"amount": "5.00", "currency": "USD"}
    assert clerk.post("/payments/store:5/refund", json=asked).status_code == 201
    tables = {
        "profiles": [facts],
        "payments": [{**sold, "payment_ref": "stripe:1"}, {**sold, "payment_ref": "stripe:2"}],
        "payment_names": [{"profile_key": 1, "payment_ref": "stripe:1", "name": "store:5"}],
    }
    served.publish(settings.published, tables, token=2)
    shown = [(row["payment_ref"], row["manual_refund"]) for row in clerk.get("/payments").json["data"]]
    assert [(ref, refund and refund["amount"]) for ref, refund in shown] == [("stripe:1", "5.00"), ("stripe:2", None)]
    again = clerk.post("/payments/stripe:1/refund", json=asked)
    assert (again.status_code, again.json["error"]["code"]) == (422, "manual_refund_exists")
    assert clerk("DELETE", "/payments/stripe:1/refund").json["data"] == {"deleted": True}
    assert clerk.get("/payments").json["data"][0]["manual_refund"] is None


def test_what_sources_took_back_beyond_a_payment_is_told_apart(
    caller_with: Callable[..., Caller], settings: Settings, profile: Profile
) -> None:
    # it was cut off, and nobody could see that a refund had been told twice
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    sold = {"profile_key": 1, "payment_ref": "store:5", "ts": 1, "value": "2000", "currency": "JPY"}
    taken = {"refunded": "2000", "refunded_by_hand": "0", "refunded_beyond": "500"}
    served.publish(settings.published, {"profiles": [facts], "payments": [{**sold, **taken}]})
    (row,) = caller_with(scopes=[Scope.CUSTOMERS_READ]).get("/payments").json["data"]
    told = [row[name] for name in ("value", "refunded_value", "refunded_beyond_value")]
    assert told == ["2000", "2000", "500"]


def test_the_trail_names_a_payment_without_the_address_in_its_reference(
    caller_with: Callable[..., Caller], settings: Settings, profile: Profile
) -> None:
    clerk = caller_with(scopes=[Scope.CUSTOMERS_READ, Scope.ATTRIBUTION_WRITE])
    facts = {"profile_key": 1, "profile_id": profile.id, "time_zone": "UTC", "currency": "USD", "settings_version": "v"}
    ids = {"profile_key": 1, "identifier_id": identifier_id(profile.id, "email", "ann@example.com")}
    person = uuid_v8(profile.id, "person", "email:ann@example.com")
    sold = {"profile_key": 1, "ts": 1, "value": "20", "refunded": "0", "refunded_by_hand": "0", "currency": "USD"}
    tables = {
        "profiles": [facts],
        "payments": [{**sold, "payment_ref": "bank:7 of ann@example.com"}],
        "person_identifiers": [{**ids, "person_ref": person, "alias_ref": person}],
    }
    served.publish(settings.published, tables)
    path = "/payments/bank:7%20of%20ann%40example.com"
    assert clerk.post(f"{path}/refund", json={"amount": "5.00", "currency": "USD"}).status_code == 201
    assert clerk("DELETE", f"{path}/refund").json["data"] == {"deleted": True}
    assert clerk("PUT", f"{path}/payer", json={"email": "ann@example.com"}).status_code == 200
    with db.transaction(settings.operational_url) as session:
        trail = [entry.details for entry in session.scalars(sa.select(AuditEntry).order_by(AuditEntry.action))]
    assert [details["target"]["id"] for details in trail] == ["bank:7 of [redacted]"] * 3
    # payer_assigned, refund_withdrawn, refunded
    amount = {"amount": "5.00", "currency": "USD"}
    assert [trail[1].get("before"), trail[2]["after"]] == [amount, amount]
