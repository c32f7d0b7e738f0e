"""The page on which a lost connection is made anew: for those who may, and it leads to the provider."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from api.models import Connection, Handoff, Profile, User, UserSession
from api.roles import Role
from api.webhooks.telling import reconnect_url
from tests.api.oauth.walk import form_token, sign_in
from tests.factories import connected, people
from tests.factories.deployments import application
from tests.fixtures.sandbox import RunningSandbox
from touchledger.settings import Settings


@pytest.fixture
def settings(settings: Settings, sandbox: RunningSandbox) -> Settings:
    return settings.model_copy(update={"sandbox_port": urlsplit(sandbox.url).port})


@pytest.fixture
def lost(settings: Settings, profile: Profile, sandbox: RunningSandbox) -> Connection:
    return connected.to_meta(settings.operational_url, profile, sandbox.url, status="reconnect_required", token="")


@pytest.fixture
def path(settings: Settings, lost: Connection) -> str:
    """The address that answers and webhooks give."""
    return reconnect_url(settings.base_url, lost).removeprefix(settings.base_url)


def person(
    client: FlaskClient, settings: Settings, profile: Profile, role: Role, permissions: tuple[str, ...] = ()
) -> User:
    made = people.user(settings.operational_url)
    people.member(settings.operational_url, made, profile.workspace_id, role, permissions=permissions)
    sign_in(client, people.session_of(settings.operational_url, made))
    return made


def test_an_admin_goes_on_to_the_provider(
    client: FlaskClient, settings: Settings, profile: Profile, sandbox: RunningSandbox, path: str
) -> None:
    person(client, settings, profile, Role.ADMIN)
    page = client.get(path)
    assert page.status_code == 200
    # a browser lets the form lead on there, and to wherever on the web somebody is sent next
    assert f"form-action 'self' https: {sandbox.url}" in page.headers["Content-Security-Policy"]
    answer = client.post(path, data={"form_token": form_token(page)})
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(f"{sandbox.url}/meta/v26.0/dialog/oauth?")


def test_a_form_of_somebody_else_begins_nothing(
    client: FlaskClient, settings: Settings, profile: Profile, path: str
) -> None:
    person(client, settings, profile, Role.ADMIN)
    assert client.post(path, data={"form_token": "forged"}).status_code == 403


def test_whoever_is_not_signed_in_signs_in_first_and_comes_back(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/sign-in?next=%2Fconnect%2Fmeta")


def test_the_permission_lets_an_editor_go_on(
    client: FlaskClient, settings: Settings, profile: Profile, path: str
) -> None:
    person(client, settings, profile, Role.EDITOR, ("connections.manage",))
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("role", "permissions"),
    [(Role.VIEWER, ()), (Role.EDITOR, ()), (Role.VIEWER, ("connections.manage",))],
    ids=["a viewer", "an editor", "a viewer with the permission"],
)
def test_others_see_what_strangers_see(
    client: FlaskClient,
    settings: Settings,
    profile: Profile,
    path: str,
    role: Role,
    permissions: tuple[str, ...],
) -> None:
    # POST /connections/connect lets a permission add to an editor's role alone, and so does the page
    person(client, settings, profile, role, permissions)
    texts = {client.get(one).text for one in (path, "/connect/meta?reconnect_connection_id=x", "/connect/meta")}
    assert len(texts) == 1
    assert client.get(path).status_code == 404


def test_whoever_signed_out_meanwhile_signs_in_and_comes_back(
    client: FlaskClient, settings: Settings, profile: Profile, path: str
) -> None:
    person(client, settings, profile, Role.ADMIN)
    form = {"form_token": form_token(client.get(path))}
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(UserSession).values(revoked_at=db.now()))
    answer = client.post(path, data=form)
    assert (answer.status_code, answer.headers["Location"][:34]) == (303, "/sign-in?next=%2Fconnect%2Fmeta%3F")


@pytest.mark.parametrize("changed", [{"connect_sandbox": "off"}, {"sandbox_port": 1}])
def test_where_the_provider_cannot_be_reached_the_page_says_so_and_nothing_begins(
    settings: Settings, profile: Profile, path: str, changed: dict[str, Any]
) -> None:
    client = application(settings.model_copy(update=changed)).test_client()
    person(client, settings, profile, Role.ADMIN)
    answer = client.post(path, data={"form_token": form_token(client.get(path))})
    assert (answer.status_code, "That is not possible now" in answer.text) == (503, True)
    assert answer.headers["Retry-After"] == "60"
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(Handoff)).all() == []


def test_a_real_account_is_not_made_anew_at_the_sandbox(
    client: FlaskClient, settings: Settings, profile: Profile, path: str
) -> None:
    person(client, settings, profile, Role.ADMIN)
    form = {"form_token": form_token(client.get(path))}
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(Connection).values(is_sandbox=False))
    answer = client.post(path, data=form)
    assert (answer.status_code, "touchledger connect" in answer.text) == (503, True)


def test_the_connection_is_of_the_provider_that_the_address_names(
    client: FlaskClient, settings: Settings, profile: Profile, path: str
) -> None:
    person(client, settings, profile, Role.ADMIN)
    form = {"form_token": form_token(client.get(path))}
    assert client.post(path.replace("meta", "google"), data=form).status_code == 404
