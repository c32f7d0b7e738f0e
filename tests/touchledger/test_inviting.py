"""Whoever operates a deployment lets the first person into what commands made."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api.app import create_app
from api.db import transaction
from api.models import AuditEntry, Invitation, Membership, Profile, Workspace
from tests.api.v1.members.conftest import asker, data
from tests.factories import people
from tests.touchledger.test_cli import CREATE, run
from touchledger.settings import Settings


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


def invited(*arguments: str, email: str = "Ana@Example.com", role: str = "owner") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("workspace", "invite", email, "--role", role, "--json", *arguments).stdout)
    return found


def test_who_is_invited_by_the_command_owns_what_commands_made(settings: Settings, client: FlaskClient) -> None:
    profile_id, ask = run(*CREATE).stdout.strip(), asker(client)
    made = invited()
    assert (made["email"], made["role"], made["workspace"]) == ("ana@example.com", "owner", "Touchledger")
    url = settings.operational_url
    ana = people.session_of(url, people.user(url, email="ana@example.com"))
    link, _, token = made["accept_url"].partition("#")
    assert client.get(link.removeprefix(settings.base_url)).status_code == 200
    data(ask("POST", "/invitations/accept", ana, {"token": token}))
    place = f"/workspaces/{made['workspace_id']}"
    (profile,) = data(ask("GET", f"{place}/profiles", ana))
    assert profile["profile_id"] == profile_id
    (by_command,) = data(ask("GET", f"{place}/invitations?status=accepted", ana))
    assert by_command["invited_by"] == {"kind": "system", "id": None, "display": "Touchledger"}
    # which is theirs to call as they like, and stays what commands make profiles in
    data(ask("PATCH", place, ana, {"name": "Shops"}))
    second = run(*CREATE).stdout.strip()
    assert {one["profile_id"] for one in data(ask("GET", f"{place}/profiles", ana))} == {profile_id, second}
    assert "is a member already" in run("workspace", "invite", "ana@example.com", "--role", "admin", code=1).stderr


def test_a_link_that_was_lost_is_made_anew_and_the_old_one_opens_nothing(
    settings: Settings, client: FlaskClient
) -> None:
    first, second = invited(), invited(role="viewer")
    url, ask = settings.operational_url, asker(client)
    ana = people.session_of(url, people.user(url, email="ana@example.com"))
    codes = [
        ask("POST", "/invitations/accept", ana, {"token": one["accept_url"].partition("#")[2]}).status_code
        for one in (first, second)
    ]
    assert codes == [409, 200]
    with transaction(url) as session:
        assert session.scalar(sa.select(Membership.role)) == "viewer"
        told = sa.select(AuditEntry.action).where(AuditEntry.actor_kind == "system").order_by(AuditEntry.id)
        assert list(session.scalars(told)) == ["invitation.created", "invitation.revoked", "invitation.created"]


def test_nobody_is_invited_to_where_there_is_no_place(settings: Settings) -> None:
    def refused(*arguments: str, code: int = 2) -> str:
        return run("workspace", "invite", *arguments, "--role", "viewer", code=code).stderr

    assert "not an e-mail address" in refused("nobody")
    assert "there is no workspace 'x'" in refused("b@example.com", "--workspace", "x")
    with transaction(settings.operational_url) as session:
        session.add(Workspace(id="app", name="Theirs", acquisition_source="oauth"))
        session.add(Workspace(id="full", name="Full"))
    assert "an app made this workspace" in refused("b@example.com", "--workspace", "app", code=1)
    for number in range(3):
        people.member(settings.operational_url, people.user(settings.operational_url, email=f"{number}@x.test"), "full")
    assert "allows no more members" in refused("b@example.com", "--workspace", "full", code=1)
    with transaction(settings.operational_url) as session:
        assert session.scalar(sa.select(sa.func.count(Invitation.id))) == 0
        assert session.scalar(sa.select(sa.func.count(Profile.id))) == 0
