"""Accepting an invitation on its page: who may, what is said to those who may not, and what is kept of the token."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import credentials, db
from api.models import AuditEntry, Invitation, Membership, Profile, User, Workspace
from tests.api.oauth.walk import form_token, sign_in
from tests.factories import people
from touchledger.settings import Settings


@pytest.fixture
def url(settings: Settings) -> str:
    return settings.operational_url


@pytest.fixture
def bob(client: FlaskClient, url: str) -> User:
    """Whoever is invited, signed in."""
    made = people.user(url, email="bob@example.com", verified=False)
    sign_in(client, people.session_of(url, made))
    return made


@pytest.fixture
def token(client: FlaskClient, url: str, profile: Profile) -> str:
    """The token of an invitation of Bob as a viewer."""
    owner = people.user(url, name="Ada")
    people.member(url, owner, profile.workspace_id)
    response = client.post(
        f"/api/v1/workspaces/{profile.workspace_id}/invitations",
        json={"email": "bob@example.com", "role": "viewer"},
        headers={"Authorization": f"Bearer {people.session_of(url, owner)}"},
    )
    where, _, token = response.get_json()["data"]["accept_url"].partition("#")
    assert where.endswith("/invitations")
    return str(token)


def accept(client: FlaskClient, token: str) -> TestResponse:
    return client.post("/invitations", data={"form_token": form_token(client.get("/invitations")), "token": token})


def test_the_invited_person_gets_their_place(
    client: FlaskClient, url: str, bob: User, token: str, profile: Profile
) -> None:
    page = accept(client, token)
    assert page.status_code == 200
    assert "You are a viewer there now" in page.text
    assert token not in page.text
    with db.transaction(url) as session:
        place = session.scalars(sa.select(Membership).where(Membership.user_id == bob.id)).one()
        done = session.scalars(sa.select(AuditEntry).where(AuditEntry.action == "invitation.accepted")).one()
    assert (place.workspace_id, place.role) == (profile.workspace_id, "viewer")
    assert (done.actor_id, done.workspace_id) == (bob.id, profile.workspace_id)


def test_without_a_signed_in_person_there_is_no_form_and_nothing_is_accepted(
    client: FlaskClient, url: str, token: str
) -> None:
    page = client.get("/invitations")
    assert "Sign in under the address" in page.text
    assert "<form" not in page.text
    sent = {"form_token": form_token(client.get("/sign-in")), "token": token}
    response = client.post("/invitations", data=sent)
    assert (response.status_code, response.location) == (303, "/sign-in?next=%2Finvitations")
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Invitation.status)).one() == "pending"


@pytest.mark.parametrize("given", [None, "", "0.0"])
def test_a_form_from_elsewhere_accepts_nothing(
    client: FlaskClient, url: str, bob: User, token: str, given: str | None
) -> None:
    sent = {"token": token} if given is None else {"token": token, "form_token": given}
    assert client.post("/invitations", data=sent).status_code == 403
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Invitation.status)).one() == "pending"


def test_somebody_else_is_told_that_it_is_not_theirs(client: FlaskClient, url: str, token: str) -> None:
    sign_in(client, people.session_of(url, people.user(url, email="eve@example.com")))
    page = accept(client, token)
    assert page.status_code == 403
    assert "is for another e-mail address" in page.text
    assert "bob@example.com" not in page.text


@pytest.mark.parametrize("wrong", ["", "nonsense", "tl_inv_" + "0" * 38])
def test_an_unknown_token_is_told_as_such(client: FlaskClient, bob: User, wrong: str) -> None:
    page = accept(client, wrong)
    assert page.status_code == 404
    assert "There is no such invitation" in page.text


def test_what_is_over_says_how(client: FlaskClient, url: str, bob: User, token: str, profile: Profile) -> None:
    with time_machine.travel(db.now() + timedelta(days=14)):
        sign_in(client, people.session_of(url, bob))
        late = accept(client, token)
        assert (late.status_code, "has expired" in late.text) == (409, True)
    sign_in(client, people.session_of(url, bob))
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).archived_at = db.now()
    gone = accept(client, token)
    assert (gone.status_code, "is archived" in gone.text) == (410, True)
    with db.transaction(url) as session:
        session.get_one(Workspace, profile.workspace_id).archived_at = None
    assert accept(client, token).status_code == 200
    # of two clicks the browser shows the answer to the second alone
    again = accept(client, token)
    assert (again.status_code, "You are a viewer there now" in again.text) == (200, True)
    with time_machine.travel(db.now() + timedelta(minutes=1)):
        later = accept(client, token)
    assert (later.status_code, "accepted already" in later.text) == (409, True)


def test_an_invitation_to_profiles_that_are_archived_is_not_called_one_of_half_a_link_only(
    client: FlaskClient, url: str, bob: User, token: str, profile: Profile
) -> None:
    with db.transaction(url) as session:
        session.execute(sa.update(Invitation).values(role="guest", profile_ids=[profile.id]))
        session.get_one(Profile, profile.id).archived_at = db.now()
    page = accept(client, token)
    assert (page.status_code, "or the profiles it was for are archived" in page.text) == (404, True)
    with db.transaction(url) as session:
        assert session.scalars(sa.select(Membership).where(Membership.user_id == bob.id)).all() == []


def test_the_page_runs_our_script_alone(client: FlaskClient, bob: User) -> None:
    response = client.get("/invitations")
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["X-Frame-Options"] == "DENY"
    assert client.get("/docs/assets/invitation.js").mimetype == "text/javascript"


def test_an_unknown_but_well_formed_token_is_as_unknown(client: FlaskClient, bob: User) -> None:
    assert accept(client, credentials.mint("tl_inv")).status_code == 404
