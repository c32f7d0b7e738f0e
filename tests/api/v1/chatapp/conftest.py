"""A profile whose business account is the sandbox's, and a key for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from flask import Flask, Response

from api import db
from api.models import Connection, Profile
from api.scopes import Scope
from sandbox.chatapp import ACCOUNT, PNG
from sandbox.faces import TOKENS
from tests.api.conftest import Caller
from tests.fixtures.sandbox import RunningSandbox, served
from touchledger.settings import Settings


@dataclass(frozen=True)
class Business:
    """The profile's business account, and what is done to it from outside."""

    settings: Settings
    connection: Connection
    caller: Caller
    control: str

    def outside(self, **changes: Any) -> None:
        """What reviewers, payers and people who write do (`sandbox.chatapp.control`)."""
        httpx.put(self.control, json=changes, trust_env=False).raise_for_status()

    def post(self, path: str, **body: Any) -> Any:
        return self.caller.post(path, json={"connection_id": self.connection.id, **body})

    def get(self, path: str, **query: Any) -> Any:
        return self.caller.get(path, query_string={"connection_id": self.connection.id, **query})

    def set(self, **columns: Any) -> None:
        """Change columns of the connection."""
        with db.transaction(self.settings.operational_url) as session:
            row = session.get_one(Connection, self.connection.id)
            for name, value in columns.items():
                setattr(row, name, value)


@pytest.fixture
def business(
    settings: Settings, profile: Profile, sandbox: RunningSandbox, caller_with: Callable[..., Caller]
) -> Iterator[Business]:
    with db.transaction(settings.operational_url) as session:
        made = Connection(
            profile_id=profile.id, provider="chatapp", kind="messaging", display_name="Alder & Finch",
            external_account_id=ACCOUNT, base_url=f"{sandbox.url}/meta", token=TOKENS["meta"], is_sandbox=True,
        )  # fmt: skip
        session.add(made)
    control = f"{sandbox.url}/__sandbox__/chatapp"
    yield Business(settings, made, caller_with(scopes=[Scope.CHATAPP]), control)
    httpx.delete(control, trust_env=False).raise_for_status()


@pytest.fixture
def sandbox_files() -> Iterator[str]:
    """The address of a server of one picture and one page."""
    app = Flask("files")
    app.add_url_rule("/a.png", "picture", lambda: Response(PNG, mimetype="image/png"))
    app.add_url_rule("/page.png", "page", lambda: Response("<html>", mimetype="image/png"))
    with served(app) as url:
        yield url
