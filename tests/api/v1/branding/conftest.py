"""A workspace with one person per role, asked on its own routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile
from api.roles import Role
from tests.factories import people
from touchledger.settings import Settings

Ask = Callable[..., TestResponse]


@pytest.fixture
def tokens(settings: Settings, profile: Profile) -> dict[Role, str]:
    """A session per role of the profile's workspace."""
    found = {}
    for role in Role:
        person = people.user(settings.operational_url)
        people.member(settings.operational_url, person, profile.workspace_id, role)
        found[role] = people.session_of(settings.operational_url, person)
    return found


@pytest.fixture
def ask(client: FlaskClient, profile: Profile, tokens: dict[Role, str]) -> Ask:
    """Asks a path under the workspace, as its admin unless another role is named."""

    def asked(method: str, path: str, *, role: Role = Role.ADMIN, **options: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {tokens[role]}", **options.pop("headers", {})}
        url = f"/api/v1/workspaces/{profile.workspace_id}{path}"
        return client.open(url, method=method, headers=headers, **options)

    return asked
