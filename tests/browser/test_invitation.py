"""An invitation opened from a mail, by somebody who still has to sign in."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from api import db, passwords
from api.app import create_app
from api.models import Membership, User
from tests.browser.place import EMAIL, PASSWORD, Place, overflow, sign_in
from tests.factories import people

pytestmark = pytest.mark.browser


def invited(place: Place, email: str) -> str:
    """The token of an invitation to the owner's first workspace."""
    url = place.settings.operational_url
    with db.transaction(url) as session:
        owner = session.query(User).filter_by(email=EMAIL).one()
        workspace_id = session.query(Membership).filter_by(user_id=owner.id).first().workspace_id
    guest = people.user(url, email=email)
    with db.transaction(url) as session:
        session.get_one(User, guest.id).password_hash = passwords.hashed(PASSWORD)
    response = (
        create_app(place.settings)
        .test_client()
        .post(
            f"/api/v1/workspaces/{workspace_id}/invitations",
            json={"email": email, "role": "editor"},
            headers={"Authorization": f"Bearer {people.session_of(url, owner)}"},
        )
    )
    return str(response.get_json()["data"]["accept_url"]).partition("#")[2]


def test_the_token_waits_in_the_tab_while_the_person_signs_in(page: Page, place: Place) -> None:
    token = invited(place, "carla@example.com")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.url} {request.headers.get('referer', '')}"))
    page.goto(f"{place.address}/invitations#{token}", wait_until="networkidle")
    assert token not in page.url
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, "carla@example.com")
    expect(page.get_by_text("gives carla@example.com a place")).to_be_visible()
    expect(page.get_by_label("Invitation code")).to_be_hidden()
    assert overflow(page) <= 0
    page.get_by_role("button", name="Accept the invitation").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome to")
    expect(page.get_by_text("You are an editor there now")).to_be_visible()
    # what a browser puts into an address or a referrer is what logs would hold
    assert not any(token in one for one in asked)
    assert page.evaluate("sessionStorage.length") == 0


def test_the_code_can_be_typed_where_the_link_was_cut(page: Page, place: Place) -> None:
    token = invited(place, "dora@example.com")
    page.goto(f"{place.address}/invitations")
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, "dora@example.com")
    page.get_by_label("Invitation code").fill("half of it")
    page.get_by_role("button", name="Accept the invitation").click()
    expect(page.get_by_role("alert")).to_contain_text("no such invitation")
    field = page.get_by_label("Invitation code")
    expect(field).to_be_focused()
    expect(field).to_have_accessible_description(re.compile("no such invitation.+behind the #"))
    expect(field).to_have_value("half of it")
    field.fill(f" #{token}")
    page.get_by_role("button", name="Accept the invitation").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome to")


def test_a_wrong_code_of_a_link_can_be_put_right(page: Page, place: Place) -> None:
    token = invited(place, "emma@example.com")
    page.goto(f"{place.address}/invitations#{token[:-1]}")
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, "emma@example.com")
    page.get_by_role("button", name="Accept the invitation").click()
    expect(page.get_by_role("alert")).to_contain_text("no such invitation")
    page.get_by_label("Invitation code").fill(token)
    page.get_by_role("button", name="Accept the invitation").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome to")
