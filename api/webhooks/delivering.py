"""Delivering what waits: a few at once, with growing waits between attempts, and nothing lost when a sender dies."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
import structlog
from cryptography.fernet import InvalidToken
from sqlalchemy.orm import Session

from api import db
from api.forgetting import forgetting
from api.models import WebhookDelivery, WebhookEvent, WebhookSubscription
from api.webhooks import signing, waiting
from api.webhooks.egress import Egress, Outcome
from api.webhooks.emitting import content
from api.webhooks.waiting import CLAIMED_FOR, JITTER, WAITS
from touchledger.settings import Settings

log = structlog.get_logger("api.webhooks")

AT_ONCE = 16
# seconds that a round waits for its attempts; slower ones go on beside whatever else there is to do
PATIENCE = 2.0
FAILED_AFTER = timedelta(hours=72)
KEPT_FOR = timedelta(days=30)
GONE = 410


@dataclass(frozen=True)
class Attempt:
    """One delivery about to be tried, with what it says, and until when it is held."""

    delivery_id: str
    until: datetime
    subscription: WebhookSubscription
    event: WebhookEvent


def deliver(settings: Settings, egress: Egress | None = None) -> int:
    """Try what is due, to the end; the number of deliveries that were taken. Safe in several processes at once."""
    waiting.put_right(settings)
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        return sum(one.result() for one in _begun(settings, pool, egress or Egress(), AT_ONCE))


def sending(egress: Egress | None = None) -> Callable[[Settings], int]:
    """A `deliver` that is called again and again and takes at most `PATIENCE` each time, however slow receivers are.

    What is not answered by then goes on, and counts among those at once; the number is of those that ended meanwhile.
    """
    pool, way_out = ThreadPoolExecutor(max_workers=AT_ONCE), egress or Egress()
    open_: set[Future[bool]] = set()

    def round_(settings: Settings) -> int:
        open_.update(_begun(settings, pool, way_out, AT_ONCE - len(open_)))
        ended, _ = wait(open_, timeout=PATIENCE)
        open_.difference_update(ended)
        return sum(one.result() for one in ended)

    return round_


def _begun(settings: Settings, pool: ThreadPoolExecutor, egress: Egress, most: int) -> list[Future[bool]]:
    attempts = [_claimed(settings, one) for one in waiting.due(settings, most)] if most else []
    return [pool.submit(_delivered, settings, egress, one) for one in attempts if one is not None]


def _delivered(settings: Settings, egress: Egress, attempt: Attempt) -> bool:
    outcome = _tried(settings, egress, attempt)
    with db.transaction(settings.operational_url) as session:
        _settle(session, attempt, outcome)
    return _is_taken(outcome)


def forgetting_old() -> Callable[[Settings], int]:
    """Drops deliveries that ended long ago, and events that no delivery is left of, a part of them in each round."""
    ended = WebhookDelivery.status.in_(("delivered", "dead"))
    told = sa.exists().where(WebhookDelivery.event_id == WebhookEvent.id)
    deliveries = forgetting(WebhookDelivery.created_at, KEPT_FOR, ended)
    events = forgetting(WebhookEvent.occurred_at, KEPT_FOR, ~told)
    return lambda settings: deliveries(settings) + events(settings)


def wait_before(attempts: int, chance: float) -> timedelta | None:
    """How long to wait after so many attempts, give or take a fifth by `chance` (0 to 1); None after the last."""
    if attempts > len(WAITS):
        return None
    return WAITS[attempts - 1] * (1 - JITTER + 2 * JITTER * chance)


def _claimed(settings: Settings, delivery_id: str) -> Attempt | None:
    """Take hold of a delivery before a byte of it leaves; None when another process has it."""
    at = db.now()
    until = at + CLAIMED_FOR
    hold = sa.update(WebhookDelivery).where(WebhookDelivery.id == delivery_id, waiting.is_due(at))
    with db.transaction(settings.operational_url) as session:
        held = session.execute(hold.values(claimed_until=until))
        if not held.rowcount:  # type: ignore[attr-defined]
            return None
        delivery = session.get_one(WebhookDelivery, delivery_id)
        subscription = session.get_one(WebhookSubscription, delivery.subscription_id)
        return Attempt(delivery_id, until, subscription, session.get_one(WebhookEvent, delivery.event_id))


def _tried(settings: Settings, egress: Egress, attempt: Attempt) -> Outcome:
    body, event_id = content(attempt.event), attempt.event.id
    try:
        headers = signing.headers(settings, attempt.subscription, event_id=event_id, at=db.now(), body=body)
    except InvalidToken:
        return Outcome(error="secret_unreadable")
    return egress.post(attempt.subscription.url, body, headers)


def _is_taken(outcome: Outcome) -> bool:
    return outcome.status is not None and 200 <= outcome.status < 300


def _settle(session: Session, attempt: Attempt, outcome: Outcome) -> None:
    """Note what an attempt came to on its delivery and its subscription; nothing when they were deleted meanwhile."""
    # in the order of those who delete: the subscription, then what belongs to it
    subscription = session.get(WebhookSubscription, attempt.subscription.id, with_for_update=True)
    delivery = session.get(WebhookDelivery, attempt.delivery_id, with_for_update=True)
    if subscription is None or delivery is None:
        return
    if delivery.claimed_until != attempt.until and (delivery.status == "delivered" or not _is_taken(outcome)):
        # it stood still for longer than it held this, and another has tried since or is trying
        return
    at = db.now()
    delivery.last_status, delivery.last_error, delivery.claimed_until = outcome.status, outcome.error, None
    if subscription.url != attempt.subscription.url and not _is_taken(outcome):
        # the address was changed meanwhile: a 410 of the old one had failed the subscription
        delivery.status, delivery.next_attempt_at = "retrying", at
        return
    delivery.attempts += 1
    if _is_taken(outcome):
        delivery.status, delivery.next_attempt_at = "delivered", None
        subscription.consecutive_failures, subscription.dead_since, subscription.last_delivery_at = 0, None, at
        return
    subscription.consecutive_failures += 1
    wait = wait_before(delivery.attempts, random.random())  # noqa: S311 - spreads attempts, guards nothing
    if wait is not None and outcome.status != GONE:
        delivery.status, delivery.next_attempt_at = "retrying", at + wait
        return
    delivery.status, delivery.next_attempt_at = "dead", None
    _died(subscription, outcome, at)


def _died(subscription: WebhookSubscription, outcome: Outcome, at: datetime) -> None:
    subscription.dead_since = subscription.dead_since or at
    reason = "gone" if outcome.status == GONE else "unreachable"
    if reason == "gone" or at - subscription.dead_since >= FAILED_AFTER:
        if subscription.status == "active":
            subscription.status, subscription.failure_reason = "failed", reason
        log.warning("webhook_subscription_failed", subscription=subscription.id, reason=reason)
