"""A workspace with a profile, its people, and requests in their name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile, User
from api.roles import Role
from tests.api.conftest import Caller
from tests.factories import people
from touchledger.settings import Settings


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def person(url: str, profile: Profile, client: FlaskClient) -> Callable[..., tuple[User, Caller]]:
    """Somebody with a role in the profile's workspace, and what sends requests with their session."""

    def make(role: Role = Role.OWNER, **options: Any) -> tuple[User, Caller]:
        made = people.user(url)
        people.member(url, made, profile.workspace_id, role, **options)
        return made, Caller(client, people.session_of(url, made))

    return make


@pytest.fixture
def owner(person: Callable[..., tuple[User, Caller]]) -> Caller:
    return person()[1]


def refusal(response: TestResponse) -> tuple[int, str, str | None]:
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")


def data(response: TestResponse, status: int = 200) -> Any:
    assert response.status_code == status, response.get_json()
    return response.get_json()["data"]
