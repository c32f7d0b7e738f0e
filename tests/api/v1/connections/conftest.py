"""A deployment beside a running sandbox, and a key that may look at and change the connections of a profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.scopes import Scope
from tests.api.conftest import Caller
from tests.api.oauth.walk import form_token
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


@pytest.fixture
def settings(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return settings.model_copy(update={"sandbox_port": urlsplit(sandbox.url).port})


@pytest.fixture
def keyed(caller_with: Callable[..., Caller]) -> Caller:
    return caller_with(scopes=[Scope.CONNECTIONS_READ, Scope.CONNECTIONS_WRITE])


@dataclass
class Owner:
    """Somebody with a browser who is sent to a provider's page by whoever holds the key."""

    keyed: Caller
    client: FlaskClient

    def begin(self, provider: str = "meta", **more: Any) -> dict[str, Any]:
        answer = self.keyed.post("/connections/connect", json={"provider": provider, **more})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.get_json()["data"]
        return found

    def go_on(self, url: str) -> TestResponse:
        """Read who asks, and press the button."""
        path = urlsplit(url).path
        return self.client.post(path, data={"form_token": form_token(self.client.get(path))})

    def decide(self, url: str, decision: str = "allow") -> str:
        """Where the provider sends the browser, as a path of ours."""
        answer = httpx.post(self.go_on(url).headers["Location"], data={"decision": decision}, trust_env=False)
        assert answer.status_code == 302, answer.text
        back = urlsplit(answer.headers["Location"])
        return f"{back.path}?{back.query}"

    def walk(self, provider: str = "meta", decision: str = "allow", **more: Any) -> dict[str, Any]:
        """The whole way; gives the hand-off as it then stands, with the address the browser ends at."""
        begun = self.begin(provider, **more)
        answer = self.client.get(self.decide(begun["url"], decision))
        assert answer.status_code == 303, answer.text
        state = self.keyed.get(f"/handoffs/{begun['id']}").get_json()["data"]
        return {**state, "ended_at": answer.headers["Location"], "connection_id": begun["connection_id"]}

    def come_back(self, path: str) -> TestResponse:
        return self.client.get(path)

    def connection(self, number: str) -> dict[str, Any]:
        found: dict[str, Any] = self.keyed.get(f"/connections/{number}").get_json()["data"]
        return found

    def finalize(self, number: str, *accounts: str) -> TestResponse:
        return self.keyed.post(f"/connections/{number}/finalize", json={"external_account_ids": list(accounts)})


@pytest.fixture
def owner(keyed: Caller, client: FlaskClient) -> Owner:
    return Owner(keyed, client)


def state_of(path: str) -> str:
    """The state in an address that a provider sends people back to."""
    return parse_qs(urlsplit(path).query)["state"][0]
