"""A workspace with an owner, and somebody who asks over HTTP under any credential."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile, User
from tests.factories import people
from touchledger.settings import Settings

Ask = Callable[..., TestResponse]


def asker(client: FlaskClient) -> Ask:
    """Asks `method path` under a token, or under a whole header of another scheme, with a JSON body."""

    def asked(method: str, path: str, token: str, body: Any = None, **headers: str) -> TestResponse:
        header = token if token.startswith("Basic ") else f"Bearer {token}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.open(f"/api/v1{path}", method=method, headers={"Authorization": header, **named}, json=body)

    return asked


def refusal(response: TestResponse) -> tuple[int, str, str | None]:
    """(status, code, reason) of a refusal."""
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")


def data(response: TestResponse, status: int = 200) -> Any:
    """What a successful answer holds."""
    assert response.status_code == status, response.get_json()
    return response.get_json()["data"]


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def ask(client: FlaskClient) -> Ask:
    return asker(client)


@pytest.fixture
def owner(url: str, profile: Profile) -> User:
    made = people.user(url, email="owner@example.com", name="Olga")
    people.member(url, made, profile.workspace_id)
    return made


@pytest.fixture
def as_owner(url: str, owner: User) -> str:
    return people.session_of(url, owner)


@pytest.fixture
def w(profile: Profile) -> str:
    """The path of the workspace."""
    return f"/workspaces/{profile.workspace_id}"
