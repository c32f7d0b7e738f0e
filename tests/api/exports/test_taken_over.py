"""A sender that stood still for longer than its lease, and another that took its rows meanwhile."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.exports import sending
from api.exports.sending import Claim, Settled
from api.models import WebhookEvent
from tests.api.exports.conftest import Exporting
from tests.api.webhooks.conftest import subscribed

LATER = sending.LEASE + timedelta(seconds=1)


@pytest.fixture
def slow(exporting: Exporting) -> Claim:
    """One row that is being sent, by who stands still."""
    exporting.publish(exporting.conversion("one"))
    exporting.match()
    claim = sending._claim(exporting.settings, exporting.destination.id)
    assert claim is not None and len(claim.rows) == 1
    return claim


def settled(exporting: Exporting, claim: Claim, status: str) -> None:
    (row,) = claim.rows
    sending._settle(exporting.settings, claim, [Settled(row.id, status, None if status == "sent" else "timeout")])  # type: ignore[arg-type]


def test_what_both_sent_is_told_once(exporting: Exporting, slow: Claim) -> None:
    subscribed(exporting.settings, exporting.profile)
    with time_machine.travel(db.now() + LATER, tick=False) as clock:
        assert exporting.send() == 1
        (sent,) = exporting.rows()
        clock.shift(timedelta(minutes=1))
        settled(exporting, slow, "sent")
    (row,) = exporting.rows()
    assert (row.status, row.sent_at) == ("sent", sent.sent_at)
    with db.transaction(exporting.url) as session:
        assert session.scalars(sa.select(WebhookEvent.type)).all() == ["conversion_export.sent"]


@pytest.mark.parametrize("status", ["retry", "failed", "waiting"])
def test_a_late_failure_changes_nothing_of_what_another_is_sending(
    exporting: Exporting, slow: Claim, status: str
) -> None:
    with time_machine.travel(db.now() + LATER, tick=False):
        other = sending._claim(exporting.settings, exporting.destination.id)
        assert other is not None
        (before,) = exporting.rows()
        settled(exporting, slow, status)
        (row,) = exporting.rows()
        assert (row.status, row.attempts, row.next_attempt_at) == ("queued", 2, before.next_attempt_at)
        # nobody takes it a third time
        assert exporting.send() == 0
        settled(exporting, other, "sent")
    assert exporting.rows()[0].status == "sent"


def test_what_went_after_all_is_sent_though_another_failed(exporting: Exporting, slow: Claim) -> None:
    with time_machine.travel(db.now() + LATER, tick=False):
        other = sending._claim(exporting.settings, exporting.destination.id)
        assert other is not None
        settled(exporting, other, "failed")
        settled(exporting, slow, "sent")
    assert exporting.rows()[0].status == "sent"
