"""Requests that meet wait for each other at most, and for nothing that they only name: SQLite and Postgres."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from api import connecting, db
from api.hooks import store_effects
from api.models import (
    Connection,
    Delegation,
    Handoff,
    IngestedRecord,
    Profile,
    StoreDelivery,
    UserSession,
    WebhookEvent,
    Workspace,
)
from tests.api.oauth import let_in
from tests.api.oauth.let_in import World
from tests.api.webhooks.conftest import subscribed
from tests.factories import people
from tests.factories.connected import to_store
from tests.factories.deployments import settings_of
from tests.factories.receivers import PUBLIC
from tests.fixtures.at_once import meanwhile
from touchledger.settings import Settings

ROOT = Path(__file__).parents[2]
# rows that are held to be changed, or so that two come one after the other: `{"key_share": True}`, `key_share=True`
HELD = re.compile(r"\b(Workspace|Profile|User|Connection)\b")
# a result of rows that nobody fetches or closes; `scalar` does both
DROPPED = re.compile(r"\.(execute|scalars)\(sa\.select\(")
STRONG = re.compile(r"with_for_update(=True|\(\))")

Act = Callable[[World, Settings], Callable[[], Any]]


@pytest.fixture
def world(home: Path, database_url: str) -> World:
    return let_in.made(home, database_url)


@pytest.fixture
def settings(home: Path, database_url: str) -> Settings:
    return settings_of(home, database_url)


@pytest.fixture
def store(world: World) -> Connection:
    return to_store(world.url, world.profile, "http://127.0.0.1:9")


def test_no_code_asks_for_the_lock_that_stops_what_names_the_row() -> None:
    sources = [path for folder in ("api", "touchledger") for path in Path(ROOT, folder).rglob("*.py")]
    locking = {
        (f"{path.relative_to(ROOT)}:{node.lineno}", text)
        for path in sources
        if "with_for_update" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and "with_for_update" in (text := ast.unparse(node))
    }
    assert len(locking) > 50
    assert {place for place, text in locking if STRONG.search(text) and HELD.search(text)} == set()


def test_nothing_that_was_read_is_left_open() -> None:
    # on SQLite its connection read on after the commit, and who was given it next was told that the file is locked
    sources = [path for folder in ("api", "orchestration", "touchledger") for path in Path(ROOT, folder).rglob("*.py")]
    dropped = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Expr) and DROPPED.search(ast.unparse(node.value))
    }
    assert dropped == set()


@pytest.mark.parametrize(
    ("method", "path", "body", "after"),
    [
        ("PATCH", "/workspaces/{w}", {"name": "Other"}, "UPDATE workspaces"),
        ("PATCH", "/profiles/{p}", {"name": "Other"}, "UPDATE profiles"),
        ("PUT", "/profiles/{p}/audience-exclusions", {"customers": []}, "audience_exclusions"),
        ("DELETE", "/connections/{c}?profile_id={p}", None, "UPDATE connections"),
        ("POST", "/workspaces/{w}/tab-counts/seen", {"tab": "reports"}, "tabs_seen"),
    ],
)
def test_what_names_a_row_is_written_while_somebody_holds_the_row(
    world: World, store: Connection, method: str, path: str, body: Any, after: str
) -> None:
    named = {"w": world.profile.workspace_id, "p": world.profile.id, "c": store.id}
    with meanwhile(world.url, after, lambda: write_what_names(world, store)):
        answer = world.ask(method, path.format(**named), body)
    assert answer.status_code == 200, answer.text


def write_what_names(world: World, store: Connection) -> None:
    """A row for each that people change; on Postgres without waiting for anybody."""
    of, at = {"profile_id": world.profile.id}, db.now()
    with db.transaction(world.url) as session:
        if session.get_bind().dialect.name == "postgresql":
            session.execute(sa.text("set local lock_timeout = '10ms'"))
        session.add(WebhookEvent(workspace_id=world.profile.workspace_id, type="x", data={}, occurred_at=at))
        session.add(IngestedRecord(**of, dataset="touches", record_key="k", fingerprint="f", record={}))
        told = {"delivery_id": "d", "topic": "t", "facts": {}}
        session.add(StoreDelivery(**of, connection_id=store.id, occurred_at=at, **told))
        session.add(UserSession(user_id=world.owner.id, digest="d", expires_at=at))


def moving(world: World, _: Settings) -> Callable[[], TestResponse]:
    return lambda: world.ask("PATCH", f"/profiles/{world.profile.id}", {"timezone": "Europe/Madrid"})


def beginning(world: World, settings: Settings) -> Callable[[], Handoff]:
    def begin() -> Handoff:
        with db.transaction(world.url) as session:
            of = {"profile": world.profile, "renewed": None}
            return connecting.begin(session, settings, provider="meta", return_url=None, **of)

    return begin


def disconnecting(world: World, settings: Settings) -> Callable[[], TestResponse]:
    subscribed(settings, world.profile)
    made = to_store(world.url, world.profile, "http://127.0.0.1:9")
    return lambda: world.ask("DELETE", f"/connections/{made.id}?profile_id={world.profile.id}")


def exchanging(world: World, _: Settings) -> Callable[[], TestResponse]:
    code = world.app_code()
    return lambda: world.app_exchange(code)


def resubscribing(world: World, settings: Settings) -> Callable[[], TestResponse]:
    made = subscribed(settings, world.profile, profile_id=None)
    path = f"/webhooks/subscriptions/{made.id}?workspace_id={world.profile.workspace_id}"
    return lambda: world.ask("PATCH", path, {"url": f"https://{PUBLIC}/elsewhere"})


def acting_on_a_delivery(world: World, settings: Settings) -> Callable[[], int]:
    of = to_store(world.url, world.profile, "http://127.0.0.1:9")
    told = {"delivery_id": "d", "topic": "orders/create", "occurred_at": db.now(), "facts": {}}
    with db.transaction(world.url) as session:
        session.add(StoreDelivery(profile_id=of.profile_id, connection_id=of.id, **told))
    return lambda: store_effects.settle_due(settings)


def archiving(world: World, _: Settings) -> Callable[[], TestResponse]:
    return world.archive


def unprovisioning(world: World, _: Settings) -> Callable[[], TestResponse]:
    with db.transaction(world.url) as session:
        session.get_one(Profile, world.profile.id).provisioned_by_app_id = world.app_id
        session.add(Delegation(app_id=world.app_id, profile_id=world.profile.id, external_ref="r", kind="provisioned"))
    return lambda: world.ask("DELETE", f"/profiles/{world.profile.id}", token=world.app.auth["Authorization"])


def provisioning(world: World, _: Settings) -> Callable[[], TestResponse]:
    with db.transaction(world.url) as session:
        session.get_one(Workspace, world.profile.workspace_id).provisioned_by_app_id = world.app_id
    people.user(world.url, email="eve@example.com")
    body = {"external_ref": "r", "name": "Two", "workspace_id": world.profile.workspace_id}
    body |= {"user": {"email": "eve@example.com"}}
    return lambda: world.ask("POST", "/profiles", body, world.app.auth["Authorization"])


def joining(world: World, _: Settings) -> Callable[[], TestResponse]:
    body = {"email": "eve@example.com", "role": "owner"}
    return lambda: world.ask("PUT", f"{world.place}/members", body, world.app.auth["Authorization"])


@pytest.mark.parametrize(
    ("first", "after", "second"),
    [
        (beginning, "FROM handoffs", moving),
        (beginning, "FROM handoffs", archiving),
        (disconnecting, "FROM connections", archiving),
        (exchanging, "FROM oauth_authorizations", unprovisioning),
        (provisioning, "FROM users", joining),
        (resubscribing, "FROM webhook_subscriptions", archiving),
        (acting_on_a_delivery, "FROM store_deliveries \nWHERE store_deliveries.id =", archiving),
    ],
)
def test_neither_of_two_is_given_up(world: World, settings: Settings, first: Act, after: str, second: Act) -> None:
    does, other = first(world, settings), second(world, settings)
    with meanwhile(world.url, after, other) as came:
        done = [does()]
    done += came
    assert [one.status for one in done if isinstance(one, TestResponse) and one.status_code not in {200, 201}] == []
