"""A subscription is deleted while somebody writes to it: one waits for the other, on SQLite and on Postgres."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import db
from api.models import Profile, WebhookDelivery, WebhookSubscription
from api.v1.webhooks import subscriptions
from api.v1.webhooks.subscriptions import Place
from api.webhooks.emitting import emit_for_profile
from tests.api.webhooks.conftest import subscribed
from tests.factories import accounts
from tests.factories.deployments import settings_of
from touchledger.settings import Settings

# seconds a deletion is given, which ends within them unless it has to wait
GIVEN = 1.0


@pytest.fixture
def settings(home: Path, database_url: str) -> Settings:
    return settings_of(home, database_url)


@pytest.fixture
def profile(database_url: str) -> Profile:
    return accounts.profile(database_url)


@contextmanager
def deleted_once_read(session: Session, url: str, profile: Profile, number: str) -> Iterator[None]:
    """Delete the subscription as soon as this session has read it, as somebody else would at that moment."""
    place = Place(profile.workspace_id, profile.id)

    def delete() -> None:
        with db.transaction(url) as other:
            subscriptions.delete(other, subscriptions.locked(other, place, number))

    thread = threading.Thread(target=delete)

    def read(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "\nFROM webhook_subscriptions" in statement and thread.ident is None:
            thread.start()
            thread.join(GIVEN)

    sa.event.listen(session.connection(), "after_cursor_execute", read)
    yield
    session.commit()
    thread.join(30)
    assert thread.ident is not None
    assert not thread.is_alive()


def emitted(session: Session, profile: Profile, _: str) -> None:
    emit_for_profile(session, "report.ready", {"report_id": "r"}, profile.id)


def replayed(session: Session, profile: Profile, delivery: str) -> None:
    subscriptions.replay(session, Place(profile.workspace_id, profile.id), delivery)


@pytest.mark.parametrize("write", [emitted, replayed])
def test_a_deletion_waits_for_what_is_being_told_and_takes_it_along(
    settings: Settings, profile: Profile, write: Callable[[Session, Profile, str], None]
) -> None:
    url, subscription = settings.operational_url, subscribed(settings, profile)
    with db.transaction(url) as session:
        emitted(session, profile, "")
        delivery = session.scalars(sa.select(WebhookDelivery)).one()
        delivery.status = "delivered"
    with db.transaction(url) as session, deleted_once_read(session, url, profile, subscription.id):
        write(session, profile, delivery.id)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(WebhookDelivery)).all() == []
        assert session.get(WebhookSubscription, subscription.id) is None
