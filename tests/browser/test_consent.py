"""Signing in and consenting as a person does it: with a browser, on a phone, with the keyboard, in the dark."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from api import db
from api.models import App
from tests.browser.place import EMAIL, PASSWORD, Place, overflow, sign_in
from tests.factories import people

pytestmark = pytest.mark.browser
# WCAG's contrast of an element's text with the nearest opaque background
CONTRAST = """element => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  let behind = element, colour;
  do { colour = rgb(getComputedStyle(behind).backgroundColor); behind = behind.parentElement; }
  while (behind && colour[3] === 0);
  const [a, b] = [light(rgb(getComputedStyle(element).color)), light(colour)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}"""


def test_a_person_signs_in_and_lets_an_agent_in(page: Page, place: Place) -> None:
    page.goto(place.asking(place.register()))
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert overflow(page) <= 0
    sign_in(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Campaign assistant")
    assert overflow(page) <= 0
    page.get_by_label(re.compile("Change what you may")).uncheck()
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_text("Back in the program.")).to_be_visible()
    answer = parse_qs(urlsplit(page.url).query)
    assert {"code", "state", "iss"} == set(answer)


def test_what_was_unticked_stays_so_until_something_is_chosen(page: Page, place: Place) -> None:
    page.goto(place.asking(place.register()))
    sign_in(page)
    boxes = page.get_by_role("checkbox")
    # all() does not wait: of a page that is still arriving it would be the boxes so far
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.uncheck()
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose at least one")
    for box in boxes.all():
        expect(box).not_to_be_checked()
    expect(boxes.first).to_be_focused()
    expect(boxes.first).to_have_accessible_description(re.compile("Choose at least one"))


def test_denying_goes_back_too(page: Page, place: Place) -> None:
    page.goto(place.asking(place.register()))
    sign_in(page)
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("Back in the program.")).to_be_visible()
    assert parse_qs(urlsplit(page.url).query)["error"] == ["access_denied"]


def test_the_keyboard_is_enough_and_a_wrong_password_is_said(page: Page, place: Place) -> None:
    page.goto(place.asking(place.register()))
    expect(page.get_by_label("E-mail address")).to_be_focused()
    page.keyboard.type(EMAIL)
    page.keyboard.press("Tab")
    page.keyboard.type("not the right sentence")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is not right")
    expect(page.get_by_label("Password")).to_be_focused()
    expect(page.get_by_label("E-mail address")).to_have_value(EMAIL)
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Campaign assistant")


def test_a_name_that_is_markup_is_shown_as_text(page: Page, place: Place) -> None:
    page.goto(place.asking(place.register("<img src=x onerror=alert(1)><b>Bank</b>")))
    sign_in(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("<b>Bank</b>")


def test_an_app_shows_the_profiles_to_pick_from(page: Page, place: Place) -> None:
    made = people.app(place.settings.operational_url, connect_scopes=["analytics", "commerce"])
    with db.transaction(place.settings.operational_url) as session:
        session.get_one(App, made.app.id).redirect_uris = ["https://app.invalid/back"]
    asked = {"redirect_uri": "https://app.invalid/back", "scope": "analytics commerce"}
    page.goto(place.asking(made.app.client_id or "", **asked))
    sign_in(page)
    expect(page.get_by_label("Profile")).to_be_visible()
    assert overflow(page) <= 0
    page.get_by_role("button", name="Allow").click()
    # the browser itself refuses to send a form without the choice
    expect(page.get_by_label("Profile")).to_be_visible()
    page.get_by_label("Profile").select_option(label="Bakery (Bakery)")
    with page.expect_request(re.compile(r"^https://app\.invalid/back\?code=")):
        page.get_by_role("button", name="Allow").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_buttons_stand_out_in_both_schemes(browser: Browser, place: Place, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{place.address}/sign-in")
    for selector in ("label", "button.main", "h1"):
        assert page.eval_on_selector(selector, CONTRAST) >= 4.5, selector
    context.close()
