"""People who ask over HTTP, each with a session or a token of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile, User
from api.roles import Role
from tests.factories import people
from touchledger.settings import Settings

Ask = Callable[..., TestResponse]


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def ask(client: FlaskClient) -> Ask:
    """Asks with a bearer token, or with a whole header of another scheme."""

    def asked(method: str, path: str, token: str, **options: Any) -> TestResponse:
        header = token if token.startswith("Basic ") else f"Bearer {token}"
        headers = {"Authorization": header, **options.pop("headers", {})}
        return client.open(f"/api/v1{path}", method=method, headers=headers, **options)

    return asked


@pytest.fixture
def owner(url: str, profile: Profile) -> User:
    """The owner of the profile's workspace."""
    ada = people.user(url)
    people.member(url, ada, profile.workspace_id)
    return ada


@pytest.fixture
def session(url: str, owner: User) -> str:
    """A session of the owner."""
    return people.session_of(url, owner)


@pytest.fixture
def as_role(url: str, profile: Profile) -> Callable[..., str]:
    """The session of a new member with this role; a guest's has a place on the profile."""

    def made(role: Role) -> str:
        one = people.user(url, name=role.word)
        people.member(url, one, profile.workspace_id, role, profiles=[profile] if role is Role.GUEST else ())
        return people.session_of(url, one)

    return made


@pytest.fixture
def w(profile: Profile) -> str:
    """The path of the workspace."""
    return f"/workspaces/{profile.workspace_id}"


def refusal(answer: TestResponse) -> tuple[int, str, str | None]:
    error = answer.get_json()["error"]
    return answer.status_code, error["code"], error.get("reason")


def data(answer: TestResponse, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.get_json()["data"]
