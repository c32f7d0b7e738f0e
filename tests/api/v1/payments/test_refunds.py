"""Refunds entered by hand, as two people change them at the same moment."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db
from api.models import IngestedRecord, ManualRefund
from api.v1.payments import refunds
from tests.factories import accounts


def test_a_refund_withdrawn_twice_at_once_is_withdrawn_once(database_url: str) -> None:
    profile, begun, late = accounts.profile(database_url), threading.Event(), list[bool]()
    with db.transaction(database_url) as session:
        refund = ManualRefund(profile_id=profile.id, payment_ref="bank:1", currency="USD", refunded_at=db.now())
        refund.amount = Decimal(5)
        session.add(refund)

    def withdraw(session: Session) -> bool:
        found = refunds.standing(session, profile.id, ["bank:1"], locked=True).get("bank:1")
        if found is not None:
            refunds.withdraw(session, found)
        return found is not None

    def again() -> None:
        begun.set()
        with db.transaction(database_url) as session:
            late.append(withdraw(session))

    thread = threading.Thread(target=again)
    with db.transaction(database_url) as session:
        assert withdraw(session)
        thread.start()
        assert begun.wait(10)
        # the other one has time to ask for the refund, and then waits for this one
        time.sleep(0.3)
    thread.join(10)
    assert late == [False]
    with db.transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(IngestedRecord)) == 1
