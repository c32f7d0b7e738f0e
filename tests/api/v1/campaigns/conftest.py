"""Deployments with the golden profiles, and callers with keys of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.credentials import mint_api_key
from api.models import Profile, Workspace
from api.snapshot import snapshots
from tests.factories import served
from tests.factories.deployments import application, migrate
from touchledger.settings import Settings

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "campaigns"
TWO_SIDES = GOLDEN.parent / "comparison"
PROFILE = "01900000-0000-7000-8000-00000000aaaa"
OTHER = "01900000-0000-7000-8000-00000000bbbb"
UNBUILT = "01900000-0000-7000-8000-00000000cccc"
PROFILES = ((PROFILE, "America/New_York", "USD"), (OTHER, "Asia/Tokyo", "JPY"), (UNBUILT, "UTC", "EUR"))
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


class Deployment:
    """An application with the golden profiles; `new_caller` gives a fresh key, and so a fresh request allowance."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.app = application(settings)
        with db.transaction(settings.operational_url) as session:
            workspace = Workspace(name="Golden")
            session.add(workspace)
            session.flush()
            for profile_id, zone, currency in PROFILES:
                session.add(_profile(profile_id, workspace.id, zone, currency))

    def new_caller(self, profile_id: str = PROFILE) -> Caller:
        with db.transaction(self.settings.operational_url) as session:
            _, secret = mint_api_key(session, profile_id=profile_id, name="test")
        return Caller(self.app.test_client(), secret)

    def publish(self, tables: served.Rows, *, token: int = 1) -> str:
        return served.publish(self.settings.published, tables, token=token)


def _profile(profile_id: str, workspace_id: str, zone: str, currency: str) -> Profile:
    return Profile(id=profile_id, workspace_id=workspace_id, name="One", timezone=zone, reporting_currency=currency)


def deployed(home: Path) -> Iterator[Deployment]:
    """A migrated deployment with nothing published, closed at the end."""
    settings = Settings(home=home)
    migrate(settings)
    yield Deployment(settings)
    snapshots(settings).close()


@pytest.fixture(scope="session")
def unpublished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment before its first publication; keep it so."""
    yield from deployed(tmp_path_factory.mktemp("unpublished"))


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment that has published the golden tables; publish nothing else in it."""
    for deployment in deployed(tmp_path_factory.mktemp("golden")):
        deployment.publish(served.from_csv(GOLDEN))
        yield deployment


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment that has published the golden tables of two sides; publish nothing else in it."""
    for deployment in deployed(tmp_path_factory.mktemp("compared")):
        deployment.publish(served.from_csv(TWO_SIDES))
        yield deployment


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    """A deployment of the test's own, with nothing published."""
    yield from deployed(tmp_path)


@pytest.fixture
def caller(golden: Deployment) -> Caller:
    """Reads the golden profile with a key of its own."""
    return golden.new_caller()
