"""Making an account, and coming back from somebody else's page, on a phone."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from api import db, one_time
from api.models import Handoff, Membership, User
from tests.browser.place import EMAIL, Place, overflow, sign_in

pytestmark = pytest.mark.browser


def test_somebody_invited_makes_an_account_first(page: Page, place: Place) -> None:
    page.goto(f"{place.address}/invitations")
    page.get_by_role("link", name="Make one").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Make an account")
    assert overflow(page) <= 0
    page.get_by_label("E-mail address").fill("fresh@example.com")
    page.get_by_label("Password").fill("password1password1")
    page.get_by_role("button", name="Make an account").click()
    expect(page.get_by_role("alert")).to_contain_text("known from breaches")
    page.get_by_label("Password").fill("a long enough sentence")
    page.get_by_role("button", name="Make an account").click()
    expect(page.get_by_text("gives fresh@example.com a place")).to_be_visible()


def test_a_problem_is_told_at_the_field_that_has_it(page: Page, place: Place) -> None:
    # who does not see the page hears it where the cursor is
    breached, problem = "password1password1", re.compile("known from breaches.+At least")
    page.goto(f"{place.address}/sign-up")
    page.get_by_label("E-mail address").fill("eve@example.com")
    page.get_by_label("Password").fill(breached)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Password")).to_be_focused()
    expect(page.get_by_label("Password")).to_have_accessible_description(problem)
    expect(page.get_by_label("E-mail address")).to_have_accessible_description("")
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill("another long sentence")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("an account with this address")
    expect(page.get_by_label("E-mail address")).to_be_focused()
    expect(page.get_by_label("E-mail address")).to_have_accessible_description(re.compile("an account with this"))
    with db.transaction(place.settings.operational_url) as session:
        owner = session.query(User).filter_by(email=EMAIL).one()
        code = one_time.issue(session, user_id=owner.id, purpose="password_reset")
    page.goto(f"{place.address}/reset-password/code")
    page.get_by_label("Code", exact=True).fill(code)
    page.get_by_label("New password").fill(breached)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("New password")).to_be_focused()
    expect(page.get_by_label("New password")).to_have_accessible_description(problem)
    expect(page.get_by_label("Code", exact=True)).to_have_value(code)


def test_the_end_of_a_hand_off_is_told_after_signing_in(page: Page, place: Place) -> None:
    with db.transaction(place.settings.operational_url) as session:
        owner = session.query(User).filter_by(email=EMAIL).one()
        workspace_id = session.query(Membership).filter_by(user_id=owner.id).first().workspace_id
        ended = Handoff(workspace_id=workspace_id, kind="checkout", url="https://pay.example/x", status="completed")
        ended.result, ended.expires_at = {"plan": "growth"}, db.now() + timedelta(hours=1)
        session.add(ended)
    page.goto(f"{place.address}/handoffs/{ended.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text("You are back")
    page.get_by_role("link", name="Sign in").click()
    sign_in(page)
    expect(page.get_by_text("is on the plan growth now")).to_be_visible()
    assert overflow(page) <= 0


def test_a_forgotten_password_leads_to_the_page_where_its_code_is_entered(page: Page, place: Place) -> None:
    page.goto(f"{place.address}/sign-in")
    page.get_by_role("link", name="Set a new one").click()
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_role("button", name="Send me a code").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter the code")
    page.get_by_label("Code", exact=True).fill("tl_rst_nothing")
    page.get_by_label("New password").fill("a long enough sentence")
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_role("alert")).to_contain_text("This code opens nothing")
    assert overflow(page) <= 0
