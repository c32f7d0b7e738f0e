"""A workspace with one subscriber, whose receiver listens on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api import db
from api.models import Profile, WebhookSubscription
from api.webhooks import signing
from tests.factories import accounts
from tests.factories.receivers import URL, Receiver, receiving
from touchledger.settings import Settings

SECRET = signing.new_secret()


@pytest.fixture(scope="session")
def listening() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def receiver(listening: Receiver) -> Receiver:
    listening.answers, listening.came = [200], []
    listening.is_endless = False
    listening.answering.set()
    return listening


@pytest.fixture
def profile(settings: Settings) -> Profile:
    return accounts.profile(settings.operational_url)


@pytest.fixture
def subscription(settings: Settings, profile: Profile) -> WebhookSubscription:
    return subscribed(settings, profile)


def subscribed(settings: Settings, profile: Profile, **more: object) -> WebhookSubscription:
    """A subscription to everything of the profile; `more` are its columns."""
    columns = {"profile_id": profile.id, "url": URL, "events": ["*"], "secret": signing.sealed(settings, SECRET)}
    with db.transaction(settings.operational_url) as session:
        made = WebhookSubscription(**{"workspace_id": profile.workspace_id, **columns, **more})
        session.add(made)
    return made
