"""A person with a profile, their browser, and an agent that has registered."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from api.models import Profile, User
from tests.api.oauth.walk import Walker, sign_in
from tests.factories import people
from touchledger.settings import Settings


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def ada(url: str, profile: Profile) -> User:
    """The owner of the profile's workspace."""
    made = people.user(url, email="ada@example.com")
    people.member(url, made, profile.workspace_id)
    return made


@pytest.fixture
def agent(client: FlaskClient, url: str, ada: User) -> Walker:
    """A registered agent, with Ada signed in in the browser."""
    sign_in(client, people.session_of(url, ada))
    walker = Walker(client)
    assert walker.register().status_code == 201
    return walker
