"""Refunds entered by hand, as two people change them at the same moment."""

from __future__ import annotations

from decimal import Decimal

import pytest
import sqlalchemy as sa
from marshmallow import ValidationError
from sqlalchemy.orm import Session

from api import db, errors
from api.models import IngestedRecord, ManualRefund
from api.v1.payments import refunds
from api.v1.payments.schemas import RefundBody
from tests.factories import accounts
from tests.fixtures.at_once import one_behind_the_other


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
