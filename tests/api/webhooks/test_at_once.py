"""A subscription is deleted while somebody writes to it: one waits for the other, on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

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
from tests.fixtures.at_once import meanwhile
from touchledger.settings import Settings


@pytest.fixture
def settings(home: Path, database_url: str) -> Settings:
    return settings_of(home, database_url)


@pytest.fixture
def profile(database_url: str) -> Profile:
    return accounts.profile(database_url)


def delete(url: str, profile: Profile, number: str) -> None:
    place = Place(profile.workspace_id, profile.id)
    with db.transaction(url) as session:
        subscriptions.delete(session, subscriptions.locked(session, place, number))


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
    deletion = partial(delete, url, profile, subscription.id)
    with meanwhile(url, "\nFROM webhook_subscriptions", deletion), db.transaction(url) as session:
        write(session, profile, delivery.id)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(WebhookDelivery)).all() == []
        assert session.get(WebhookSubscription, subscription.id) is None
