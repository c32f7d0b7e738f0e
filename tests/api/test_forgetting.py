"""What is old goes piece by piece, past what must stay, and no transaction deletes more than a piece."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db, forgetting, worker
from api.models import WebhookDelivery, WebhookEvent
from api.webhooks import delivering
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts
from tests.factories.deployments import settings_of
from tests.fixtures.statements import statements
from touchledger.settings import Settings

DAYS = timedelta(days=1)


@pytest.fixture
def settings(home: Path, database_url: str) -> Settings:
    return settings_of(home, database_url)


@pytest.fixture
def told(settings: Settings) -> Callable[..., None]:
    """Writes deliveries, each with an event of its own, of so many days ago."""
    to = subscribed(settings, accounts.profile(settings.operational_url))

    def write(count: int, *, status: str, days: int) -> None:
        at = db.now() - days * DAYS
        with db.transaction(settings.operational_url) as session:
            for _ in range(count):
                event = WebhookEvent(workspace_id=to.workspace_id, type="report.ready", occurred_at=at)
                session.add(event)
                session.flush()
                session.add(WebhookDelivery(subscription_id=to.id, event_id=event.id, status=status, created_at=at))

    return write


def left(settings: Settings) -> tuple[list[str], int]:
    with db.transaction(settings.operational_url) as session:
        statuses = session.scalars(sa.select(WebhookDelivery.status).order_by(WebhookDelivery.id)).all()
        return list(statuses), session.scalar(sa.select(sa.func.count()).select_from(WebhookEvent)) or 0


def test_rounds_go_through_all_that_is_old(
    settings: Settings, told: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # the first forgetting of a million deliveries kept every writer of an SQLite file waiting for over a minute
    monkeypatch.setattr(forgetting, "PIECES", 2)
    monkeypatch.setattr(forgetting, "PIECE", 3)
    forget = delivering.forgetting_old()
    told(7, status="pending", days=40)
    told(5, status="delivered", days=35)
    told(2, status="dead", days=32)
    told(4, status="delivered", days=29)
    engine = db.engine_for(settings.operational_url)
    with statements(engine) as run:
        deleted = [forget(settings) for _ in range(6)]
    assert sum(deleted) == 14
    assert left(settings) == (["pending"] * 7 + ["delivered"] * 4, 11)
    ids = [list(values.values() if isinstance(values, dict) else values) for text, values in run if "DELETE" in text]
    assert max(sum(1 for one in of if len(str(one)) == 36) for of in ids) == 3
    # and from the beginning again, for what has become old meanwhile
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(WebhookDelivery).values(status="dead"))
    assert sum(forget(settings) for _ in range(6)) == 14
    assert left(settings) == (["dead"] * 4, 4)


def test_the_worker_forgets_webhooks_once_a_minute(settings: Settings, told: Callable[..., None]) -> None:
    told(2, status="delivered", days=31)
    told(1, status="delivered", days=29)
    (chore,) = (one for one in worker.chores(settings) if one.name == "forget_old_webhooks")
    assert chore.every == 60
    chore.run(settings, 0.0)
    assert left(settings) == (["delivered"], 1)
