"""Making an account on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.place import Place, overflow

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
