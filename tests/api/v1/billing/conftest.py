"""A deployment that sells, and the owner of a workspace who asks."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.models import Profile
from tests.api.v1.billing.asking import Ask
from tests.factories import billing as factory
from tests.factories import people
from tests.factories.deployments import application
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


@pytest.fixture
def selling(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return factory.selling(settings, sandbox)


@pytest.fixture
def client(selling: Settings) -> FlaskClient:
    return application(selling).test_client()


@pytest.fixture
def owner(selling: Settings, profile: Profile) -> str:
    """The session of the owner of the profile's workspace."""
    ada = people.user(selling.operational_url)
    people.member(selling.operational_url, ada, profile.workspace_id)
    return people.session_of(selling.operational_url, ada)


@pytest.fixture
def ask(client: FlaskClient, owner: str, profile: Profile) -> Ask:
    """Asks a route of the workspace (or with `whole` any) as its owner, or with another token."""

    def asked(
        path: str, body: dict[str, Any] | None = None, *, token: str = owner, whole: bool = False
    ) -> TestResponse:
        where = path if whole else f"/workspaces/{profile.workspace_id}/{path}"
        headers = {"Authorization": f"Bearer {token}"}
        return client.open(f"/api/v1{where}", method="GET" if body is None else "POST", json=body, headers=headers)

    return asked
