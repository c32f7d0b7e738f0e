"""A caller with a key of the golden profile, and a deployment that has published the golden tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.app import create_app
from api.credentials import mint_api_key
from api.models import Profile, Workspace
from api.snapshot import snapshots
from tests.factories import served
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "campaigns"
PROFILE = "01900000-0000-7000-8000-00000000aaaa"
OTHER = "01900000-0000-7000-8000-00000000bbbb"
UNBUILT = "01900000-0000-7000-8000-00000000cccc"
WINDOW = {"date_from": "2026-03-01", "date_to": "2026-03-02"}


class Caller:
    """Sends GETs with one key."""

    def __init__(self, client: FlaskClient, key: str) -> None:
        self.client = client
        self.key = key

    def get(self, path: str, headers: dict[str, str] | None = None, **query: Any) -> TestResponse:
        bearer = {"Authorization": f"Bearer {self.key}", **(headers or {})}
        return self.client.get(f"/api/v1{path}", query_string=query, headers=bearer)

    def data(self, path: str = "/campaigns", **query: Any) -> Any:
        response = self.get(path, **{**WINDOW, **query})
        assert response.status_code == 200, response.text
        return response.json["data"]

    def refusal(self, path: str = "/campaigns", **query: Any) -> tuple[int, str, str]:
        response = self.get(path, **query)
        error = response.json["error"]
        return response.status_code, error["code"], error["message"]


@pytest.fixture
def client(settings: Settings) -> Iterator[FlaskClient]:
    with db.transaction(settings.operational_url) as session:
        workspace = Workspace(name="Golden")
        session.add(workspace)
        session.flush()
        for profile_id, zone, currency in (
            (PROFILE, "America/New_York", "USD"),
            (OTHER, "Asia/Tokyo", "JPY"),
            (UNBUILT, "UTC", "EUR"),
        ):
            profile = Profile(
                id=profile_id, workspace_id=workspace.id, name="One", timezone=zone, reporting_currency=currency
            )
            session.add(profile)
    yield create_app(settings).test_client()
    snapshots(settings).close()


@pytest.fixture
def new_caller(client: FlaskClient, settings: Settings) -> Callable[[str], Caller]:
    """A caller with a fresh key, and so a fresh request allowance."""

    def new(profile_id: str = PROFILE) -> Caller:
        with db.transaction(settings.operational_url) as session:
            _, secret = mint_api_key(session, profile_id=profile_id, name="test")
        return Caller(client, secret)

    return new


@pytest.fixture
def published(settings: Settings) -> str:
    """Id of the snapshot that holds the golden tables."""
    return served.publish(settings.published, served.from_csv(GOLDEN))


@pytest.fixture
def caller(new_caller: Callable[[str], Caller], published: str) -> Caller:
    return new_caller(PROFILE)
