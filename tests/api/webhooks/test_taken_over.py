"""A sender that stood still for longer than it held a delivery, such as a paused machine, and another that took it."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine

from api import db
from api.models import Profile, WebhookDelivery, WebhookSubscription
from api.webhooks import delivering, waiting
from api.webhooks.delivering import Attempt, Outcome
from api.webhooks.emitting import emit_for_profile
from touchledger.settings import Settings

LATER = waiting.CLAIMED_FOR + timedelta(seconds=1)
FAILURES = [Outcome(error="timeout"), Outcome(500), Outcome(410)]


@pytest.fixture
def delivery_id(settings: Settings, profile: Profile, subscription: WebhookSubscription) -> str:
    with db.transaction(settings.operational_url) as session:
        emit_for_profile(session, "report.ready", {"report_id": "r"}, profile.id)
        return session.scalars(sa.select(WebhookDelivery.id)).one()


def claimed(settings: Settings, delivery_id: str) -> Attempt:
    attempt = delivering._claimed(settings, delivery_id)
    assert attempt is not None
    return attempt


def settled(settings: Settings, attempt: Attempt, outcome: Outcome) -> tuple[WebhookDelivery, WebhookSubscription]:
    with db.transaction(settings.operational_url) as session:
        delivering._settle(session, attempt, outcome)
    with db.transaction(settings.operational_url) as session:
        found = session.get_one(WebhookDelivery, attempt.delivery_id)
        return found, session.get_one(WebhookSubscription, found.subscription_id)


@pytest.mark.parametrize("failure", FAILURES, ids=["timeout", "500", "gone"])
def test_what_another_delivered_is_not_tried_again_for_a_late_failure(
    settings: Settings, delivery_id: str, failure: Outcome
) -> None:
    # it was sent a third time, and counted against the receiver
    slow = claimed(settings, delivery_id)
    with time_machine.travel(db.now() + LATER, tick=False):
        settled(settings, claimed(settings, delivery_id), Outcome(200))
        row, subscription = settled(settings, slow, failure)
    assert (row.status, row.attempts, row.last_status, row.next_attempt_at) == ("delivered", 1, 200, None)
    assert (subscription.status, subscription.consecutive_failures) == ("active", 0)


@pytest.mark.parametrize("failure", FAILURES, ids=["timeout", "500", "gone"])
def test_a_late_failure_does_not_let_a_third_in_while_another_is_on_its_way(
    settings: Settings, delivery_id: str, failure: Outcome
) -> None:
    slow = claimed(settings, delivery_id)
    with time_machine.travel(db.now() + LATER, tick=False):
        other = claimed(settings, delivery_id)
        row, subscription = settled(settings, slow, failure)
        assert delivering._claimed(settings, delivery_id) is None
        assert (row.status, row.attempts, subscription.consecutive_failures) == ("pending", 0, 0)
        row, subscription = settled(settings, other, Outcome(503))
    assert (row.status, row.attempts, subscription.consecutive_failures) == ("retrying", 1, 1)


def test_what_was_taken_late_is_delivered_whatever_another_hears(settings: Settings, delivery_id: str) -> None:
    slow = claimed(settings, delivery_id)
    with time_machine.travel(db.now() + LATER, tick=False):
        other = claimed(settings, delivery_id)
        settled(settings, slow, Outcome(200))
        row, subscription = settled(settings, other, Outcome(503))
    assert (row.status, row.attempts, row.next_attempt_at) == ("delivered", 1, None)
    assert subscription.consecutive_failures == 0
