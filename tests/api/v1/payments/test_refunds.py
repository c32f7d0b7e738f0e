"""Refunds entered by hand, as two people change them at the same moment."""

from __future__ import annotations

from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, errors
from api.models import IngestedRecord, ManualRefund
from api.v1.payments import refunds
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
