"""A deployment with one profile and one key, serving the product's routes and the notes of `tests/factories`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import code_digest, connections
from api.app import create_app
from api.http import Application
from api.models import Profile
from api.snapshot import Snapshots
from connectors.transport import Policy
from tests.factories import accounts, connected, notes
from tests.factories.connected import Advertiser
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


class Caller:
    """Sends requests with one key."""

    def __init__(self, client: FlaskClient, secret: str | None) -> None:
        self.client = client
        self.secret = secret

    def __call__(self, method: str, path: str, headers: dict[str, str] | None = None, **options: Any) -> TestResponse:
        bearer = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        return self.client.open(f"/api/v1{path}", method=method, headers={**bearer, **(headers or {})}, **options)

    def get(self, path: str, **options: Any) -> TestResponse:
        return self("GET", path, **options)

    def post(self, path: str, **options: Any) -> TestResponse:
        return self("POST", path, **options)


@pytest.fixture(scope="session")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """The application, put together once: that costs more than most tests, and settings are read with each request."""
    return create_app(Settings(home=tmp_path_factory.mktemp("nobody")), more=[notes.bp])


@pytest.fixture
def client(assembled: Application, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setitem(assembled.config, "SETTINGS", settings)
    return assembled.test_client()


@pytest.fixture
def profile(settings: Settings) -> Profile:
    return accounts.profile(settings.operational_url)


@pytest.fixture
def secret(settings: Settings, profile: Profile) -> str:
    return accounts.secret(settings.operational_url, profile)


@pytest.fixture
def caller(client: FlaskClient, secret: str) -> Caller:
    return Caller(client, secret)


@pytest.fixture
def anonymous(client: FlaskClient) -> Caller:
    return Caller(client, None)


@pytest.fixture
def caller_with(client: FlaskClient, settings: Settings, profile: Profile) -> Callable[..., Caller]:
    """A caller with a fresh key; options go to the factory."""

    def make(**options: Any) -> Caller:
        return Caller(client, accounts.secret(settings.operational_url, profile, **options))

    return make


@pytest.fixture
def bare(tmp_path: Path) -> Settings:
    """Settings of an empty state folder, without a database."""
    return Settings(home=tmp_path, query_deadline_seconds=30)


@pytest.fixture
def snapshots(bare: Settings) -> Iterator[Snapshots]:
    """What a process reads that serves the bare folder."""
    found = Snapshots(bare)
    yield found
    found.close()


@pytest.fixture
def advertiser(
    settings: Settings,
    profile: Profile,
    sandbox: RunningSandbox,
    client: FlaskClient,
    monkeypatch: pytest.MonkeyPatch,
) -> Advertiser:
    """The profile with an ad account of the sandbox, a key that may change things there, and little patience."""
    hasty = Policy(attempts=2, longest_wait=1, first_backoff=0.01, longest_backoff=0.02, read_timeout=60)
    monkeypatch.setattr(connections, "PATIENCE", hasty)
    connection = connected.to_meta(settings.operational_url, profile, sandbox.url)
    key = accounts.secret(settings.operational_url, profile, scopes=connected.SCOPES)
    return Advertiser(settings, profile, sandbox, connection, Caller(client, key))


@pytest.fixture
def upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Gives what puts other code in the place of that which has answered so far, as an upgrade and a restart do."""

    def other_code() -> None:
        (tmp_path / "upgraded").mkdir()
        (tmp_path / "upgraded" / "routes.py").write_text("# of the next version")
        monkeypatch.setattr(code_digest, "SOURCES", tmp_path / "upgraded")
        code_digest.code_digest.cache_clear()

    yield other_code
    code_digest.code_digest.cache_clear()
