"""What is old goes piece by piece, past what must stay, and no transaction deletes more than a piece."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db, forgetting, worker
from api.hooks import store_effects
from api.models import (
    OAuthAuthorization,
    OAuthRefreshToken,
    StoreDelivery,
    UserToken,
    WebhookDelivery,
    WebhookEvent,
)
from api.oauth import families
from api.webhooks import delivering
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts, people
from tests.factories.connected import to_store
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


def test_what_agents_were_given_goes_once_it_serves_nobody(settings: Settings) -> None:
    # an agent comes daily for a new pair, and both stayed for good
    url = settings.operational_url
    person = people.user(url)
    people.token_of(url, person)
    with db.transaction(url) as session:
        consent = OAuthAuthorization(kind="agent", client_id="c", client_name="C", user_id=person.id, status="granted")
        session.add(consent)
        session.flush()
        for days in (401, 399, 61, 59):
            _pair(session, consent, days)
        # as old, minted by hand: its person sees it in a list, and ends it there
        session.execute(sa.update(UserToken).where(UserToken.origin == "session").values(created_at=_ago(500)))
    forget = families.forgetting_old()
    assert (forget(settings), forget(settings)) == (4, 0)
    with db.transaction(url) as session:
        refreshes = session.scalars(sa.select(OAuthRefreshToken.digest)).all()
        tokens = session.scalars(sa.select(UserToken.name).order_by(UserToken.created_at)).all()
    assert (refreshes, tokens) == (["59"], ["test", "399", "61", "59"])


def _ago(days: int) -> datetime:
    return db.now() - days * DAYS


def _pair(session: Session, under: OAuthAuthorization, days: int) -> None:
    at, name = _ago(days), str(days)
    told = {"client_id": under.client_id, "digest": name, "created_at": at, "expires_at": at + DAYS}
    token = UserToken(user_id=under.user_id, name=name, prefix="p", grants=[], origin="oauth", **told)
    session.add(token)
    session.flush()
    session.add(OAuthRefreshToken(authorization_id=under.id, user_token_id=token.id, scopes=[], **told))


def test_what_a_store_said_goes_but_for_what_landed_and_what_waits(settings: Settings) -> None:
    store = to_store(settings.operational_url, accounts.profile(settings.operational_url), "http://127.0.0.1:9")
    cases = [("noted", 31), ("deleted", 31), ("noted", 29), (None, 31)]
    with db.transaction(settings.operational_url) as session:
        for number, (outcome, days) in enumerate(cases):
            of = {"profile_id": store.profile_id, "connection_id": store.id, "delivery_id": str(number)}
            told = {"topic": "orders/updated", "occurred_at": db.now(), "received_at": _ago(days)}
            session.add(StoreDelivery(**of, **told, outcome=outcome, processed_at=outcome and db.now()))
    assert store_effects.forgetting_old()(settings) == 1
    with db.transaction(settings.operational_url) as session:
        left = session.scalars(sa.select(StoreDelivery.delivery_id).order_by(StoreDelivery.delivery_id)).all()
    assert left == ["1", "2", "3"]
