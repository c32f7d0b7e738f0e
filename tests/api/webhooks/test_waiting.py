"""Choosing what leaves next takes as long as there are receivers, however much waits for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from api import db, worker
from api.models import Profile, WebhookDelivery, WebhookEvent, WebhookSubscription
from api.webhooks import waiting
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts
from tests.factories.deployments import settings_of
from touchledger.settings import Settings


def queued(settings: Settings, to: WebhookSubscription, count: int, **more: object) -> list[str]:
    """Ids of deliveries that wait for a receiver, the oldest first."""
    at = db.now() - timedelta(hours=1)
    with db.transaction(settings.operational_url) as session:
        event = WebhookEvent(workspace_id=to.workspace_id, type="report.ready")
        session.add(event)
        session.flush()
        made = [
            WebhookDelivery(
                **{
                    "subscription_id": to.id,
                    "event_id": event.id,
                    "next_attempt_at": at + timedelta(seconds=number),
                    **more,
                }
            )
            for number in range(count)
        ]
        session.add_all(made)
        session.flush()
        return [one.id for one in made]


@contextmanager
def steps(settings: Settings) -> Iterator[list[int]]:
    """One entry per 10 steps that SQLite takes meanwhile."""
    taken: list[int] = []
    with db.engine_for(settings.operational_url, durable=False).connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_progress_handler(lambda: taken.append(10), 10)
    yield taken
    driver.set_progress_handler(None, 10)


@pytest.mark.parametrize("status", ["pending", "retrying"])
def test_a_round_reads_no_more_where_more_waits(
    settings: Settings, subscription: WebhookSubscription, profile: Profile, status: str
) -> None:
    # 100,000 that waited for one receiver were read and put in order in each round, for one to two seconds of its two
    other = subscribed(settings, profile, profile_id=None)
    oldest = queued(settings, subscription, 10, status=status)[:2]
    later = {"status": status, "attempts": 5, "next_attempt_at": db.now() + timedelta(hours=9)}
    queued(settings, other, 1, **later)
    with steps(settings) as few:
        assert waiting.due(settings, 16) == oldest
    queued(settings, subscription, 500, status=status, next_attempt_at=db.now())
    queued(settings, other, 500, **later)
    with steps(settings) as many:
        assert waiting.due(settings, 16) == oldest
    assert sum(few) > 0
    assert sum(many) < 1.2 * sum(few)


def test_what_is_held_or_paused_is_passed_over(home: Path, database_url: str) -> None:
    settings = settings_of(home, database_url)
    first, second = (subscribed(settings, accounts.profile(database_url)) for _ in range(2))
    ids = queued(settings, first, 4)
    queued(settings, second, 2)
    with db.transaction(database_url) as session:
        session.get_one(WebhookSubscription, second.id).status = "paused"
        session.get_one(WebhookDelivery, ids[0]).claimed_until = db.now() + timedelta(minutes=1)
    # one is on its way, and of one receiver no more than two are
    assert waiting.due(settings, 16) == [ids[1]]
    with db.transaction(database_url) as session:
        session.get_one(WebhookDelivery, ids[0]).claimed_until = db.now() - timedelta(minutes=1)
    assert waiting.due(settings, 16) == ids[:2]
    assert waiting.due(settings, 1) == ids[:1]


def test_the_worker_makes_due_what_a_clock_put_off(home: Path, database_url: str) -> None:
    settings = settings_of(home, database_url)
    one = subscribed(settings, accounts.profile(database_url))
    at = db.now()
    (odd,) = queued(settings, one, 1, status="retrying", attempts=1, next_attempt_at=at + timedelta(hours=2))
    (right,) = queued(settings, one, 1, status="retrying", attempts=4, next_attempt_at=at + timedelta(hours=2))
    assert waiting.due(settings, 16) == []
    (chore,) = (one for one in worker.chores(settings) if one.do is waiting.put_right)
    assert chore.every == 60
    chore.run(settings, 0.0)
    assert waiting.due(settings, 16) == [odd]
    with db.transaction(database_url) as session:
        assert session.get_one(WebhookDelivery, right).next_attempt_at == at + timedelta(hours=2)
