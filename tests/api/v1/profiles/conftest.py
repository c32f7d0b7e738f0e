"""People and apps that ask with a header of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from touchledger.settings import Settings

Ask = Callable[..., TestResponse]


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def ask(client: FlaskClient) -> Ask:
    """Sends a request under a bearer token or a whole Authorization header."""

    def asked(method: str, path: str, token: str, json: object = None, **headers: str) -> TestResponse:
        bearer = token if token.startswith("Basic ") else f"Bearer {token}"
        sent = {"Authorization": bearer, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return client.open(f"/api/v1{path}", method=method, json=json, headers=sent)

    return asked


def refusal(response: TestResponse) -> tuple[int, str, str | None]:
    """Status, code and reason."""
    error = response.get_json()["error"]
    return response.status_code, error["code"], error.get("reason")
