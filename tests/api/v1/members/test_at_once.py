"""Who changes the people of one workspace at the same moment waits for the other, on SQLite and on Postgres."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from api import db
from api.models import Membership, Profile, User
from api.roles import Role
from tests.api.v1.members.conftest import asker, data
from tests.factories import accounts, people
from tests.factories.deployments import application, settings_of

AT_ONCE = 6


@pytest.fixture
def app(home: Path, database_url: str) -> Flask:
    return application(settings_of(home, database_url))


@pytest.fixture
def shop(database_url: str) -> Profile:
    return accounts.profile(database_url)


def together(app: Flask, calls: list[tuple[Any, ...]]) -> list[TestResponse]:
    """Sends all calls at the same moment, each on a client of its own."""
    ready = threading.Barrier(len(calls))

    def send(call: tuple[Any, ...]) -> TestResponse:
        ask = asker(app.test_client())
        ready.wait(60)
        return ask(*call)

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(send, calls))


def reasons(answers: list[TestResponse]) -> list[str]:
    return sorted(answer.get_json().get("error", {}).get("reason", "done") for answer in answers)


def owners(url: str, count: int, workspace_id: str) -> list[tuple[User, Membership]]:
    made = [people.user(url) for _ in range(count)]
    return [(user, people.member(url, user, workspace_id)) for user in made]


@pytest.mark.parametrize(
    "change",
    [lambda path: ("DELETE", path), lambda path: ("PATCH", path, {"role": "viewer"})],
    ids=["leave", "step down"],
)
def test_of_owners_who_go_at_once_one_stays(
    app: Flask, database_url: str, shop: Profile, change: Callable[[str], tuple[Any, ...]]
) -> None:
    calls = []
    for user, membership in owners(database_url, AT_ONCE, shop.workspace_id):
        method, path, *body = change(f"/workspaces/{shop.workspace_id}/memberships/{membership.id}")
        calls.append((method, path, people.session_of(database_url, user), *body))
    assert reasons(together(app, calls)) == ["done"] * (AT_ONCE - 1) + ["last_owner"]
    with db.transaction(database_url) as session:
        kept = sa.select(sa.func.count()).where(Membership.role == Role.OWNER.word)
        assert session.scalar(kept) == 1


def test_an_invitation_accepted_at_once_makes_one_member(app: Flask, database_url: str, shop: Profile) -> None:
    ((owner, _),) = owners(database_url, 1, shop.workspace_id)
    vera = people.user(database_url, email="vera@example.com")
    body = {"email": "vera@example.com", "role": "viewer"}
    path = f"/workspaces/{shop.workspace_id}/invitations"
    made = data(asker(app.test_client())("POST", path, people.session_of(database_url, owner), body), 201)
    token, accept = people.session_of(database_url, vera), {"token": made["accept_url"].partition("#")[2]}
    answers = together(app, [("POST", "/invitations/accept", token, accept)] * AT_ONCE)
    assert reasons(answers) == ["already_accepted"] * (AT_ONCE - 1) + ["done"]
    with db.transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).where(Membership.user_id == vera.id)) == 1


def test_an_invitation_is_accepted_or_revoked_but_never_both(app: Flask, database_url: str, shop: Profile) -> None:
    ((owner, _),) = owners(database_url, 1, shop.workspace_id)
    vera, as_owner = people.user(database_url, email="vera@example.com"), people.session_of(database_url, owner)
    path = f"/workspaces/{shop.workspace_id}/invitations"
    made = data(asker(app.test_client())("POST", path, as_owner, {"email": vera.email, "role": "viewer"}), 201)
    accept = {"token": made["accept_url"].partition("#")[2]}
    answers = together(
        app,
        [
            ("POST", "/invitations/accept", people.session_of(database_url, vera), accept),
            ("DELETE", f"{path}/{made['invitation_id']}", as_owner),
        ],
    )
    assert reasons(answers) in (["already_accepted", "done"], ["already_revoked", "done"])
    with db.transaction(database_url) as session:
        members = session.scalar(sa.select(sa.func.count()).where(Membership.user_id == vera.id))
    assert members == (answers[0].status_code == 200)


def test_an_address_invited_at_once_has_one_open_invitation(app: Flask, database_url: str, shop: Profile) -> None:
    ((owner, _),) = owners(database_url, 1, shop.workspace_id)
    call = (
        "POST",
        f"/workspaces/{shop.workspace_id}/invitations",
        people.session_of(database_url, owner),
        {"email": "vera@example.com", "role": "viewer"},
    )
    assert reasons(together(app, [call] * AT_ONCE)) == ["already_invited"] * (AT_ONCE - 1) + ["done"]
