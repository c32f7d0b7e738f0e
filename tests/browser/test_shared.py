"""A frozen leaderboard as people meet it: on a phone, on a wide screen, on paper, in the dark, and by ear."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from api import db
from api.models import Branding, Membership, Profile, SharedSnapshot, User
from tests.browser.place import EMAIL, Place, overflow
from tests.browser.test_consent import CONTRAST
from tests.factories import shared

pytestmark = pytest.mark.browser

ANSWER = Path(__file__).resolve().parents[1] / "golden" / "top_performers" / "answers" / "profile.json"
# each sign of an element, with how far from the left it is first seen
PLACES = """(element) => {
  const range = document.createRange(), found = {};
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (let at = 0; at < node.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      found[node.data[at]] ??= range.getBoundingClientRect().left;
    }
  return found;
}"""
LONG = "Summer collection, thirty second story, version B, retargeting of women between 25 and 44 years of age"


@pytest.fixture(scope="module")
def address(place: Place) -> str:
    """A link to six ads, the first of them with a long name, the third a hostile one."""
    with db.transaction(place.settings.operational_url) as session:
        owner = session.query(User).filter_by(email=EMAIL).one()
        workspace_id = session.query(Membership).filter_by(user_id=owner.id).first().workspace_id
        profile = session.query(Profile).filter_by(workspace_id=workspace_id).first()
    rows = json.loads(ANSWER.read_text())
    told = [{**row, "profile_id": profile.id, "profile_name": profile.name} for row in rows]
    told[0] |= {"ad_name": LONG, "spend": 1234567.89}
    title = "Spring creative review: what worked"
    _, token = shared.snapshot(place.settings.operational_url, [profile], rows=told, title=title)
    return f"{place.address}/shared/{token}"


def test_it_fits_a_phone_and_still_is_a_table_to_who_listens(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Spring creative review: what worked")
    expect(page.get_by_role("row")).to_have_count(7)
    first = page.get_by_role("row").nth(1)
    expect(first.get_by_role("rowheader")).to_contain_text(LONG)
    expect(first.get_by_role("cell").nth(1)).to_contain_text("83.4")
    expect(page.get_by_role("columnheader", name="Score")).to_be_attached()
    assert overflow(page) <= 0
    expect(page.get_by_text("</script><script>alert(1)</script>")).to_be_visible()


def test_a_name_is_written_in_its_own_direction_and_turns_nothing_beside_it(page: Page, place: Place) -> None:
    row = json.loads(ANSWER.read_text())[0]
    hebrew = {"ad_name": "\u05de\u05d1\u05e6\u05e2 50%! (A)", "profile_id": "1", "profile_name": "A\u2069\u202eB"}
    turned = {"ad_name": "A\u202eB", "campaign_name": "X\u202eY", "profile_id": "2", "profile_name": "A\u202eB"}
    with db.transaction(place.settings.operational_url) as session:
        profile = session.query(Profile).first()
    told = [{**row, **hebrew}, {**row, **turned}]
    _, token = shared.snapshot(place.settings.operational_url, [profile], rows=told)
    page.goto(f"{place.address}/shared/{token}")
    name = page.locator(".name").first.evaluate(PLACES)
    assert name["A"] < name["!"] < name["5"] < name["\u05de"]
    for of in page.locator(".of").all():
        seen = of.evaluate(PLACES)
        assert seen["A"] < seen["B"] < seen["i"] < seen["n"]


@pytest.mark.parametrize("width", [320, 700, 961, 1280])
def test_no_width_cuts_anything_off_and_nobody_else_is_asked(
    browser: Browser, place: Place, address: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address, wait_until="networkidle")
    assert overflow(page) <= 0
    assert all(one.startswith(place.address) for one in asked)
    page.close()


@pytest.mark.parametrize("width", [320, 390, 600, 961])
def test_no_figure_is_written_over_the_one_beside_it(browser: Browser, place: Place, width: int) -> None:
    row = json.loads(ANSWER.read_text())[0] | {"spend": 98765432109.87, "roas": 1234567.891, "profile_id": "1"}
    with db.transaction(place.settings.operational_url) as session:
        profile = session.query(Profile).first()
    _, token = shared.snapshot(place.settings.operational_url, [profile], rows=[row])
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{place.address}/shared/{token}?lang=es")
    assert overflow(page) <= 0
    beyond = "all => all.map(one => one.scrollWidth - one.clientWidth)"
    assert max(page.eval_on_selector_all("td.number, .tiles div", beyond)) <= 0
    # and neither on paper
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 695, "height": 1000})
    assert max(page.eval_on_selector_all("td.number, .tiles div", beyond)) <= 0
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_written_stands_out(browser: Browser, address: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    written = (".frozen", ".of", ".tags span", ".unit", ".stage.settled", ".stage.provisional", ".strength", ".caution",
               ".weakness", ".is-provisional .figure", ".measures dd", "footer p", ".language", ".label")  # fmt: skip
    for selector in written:
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_where_the_keyboard_is_shows_whatever_the_workspaces_colour(
    browser: Browser, place: Place, address: str, scheme: str
) -> None:
    primary = {"light": "#FFFFFF", "dark": "#101010"}[scheme]
    with db.transaction(place.settings.operational_url) as session:
        of = session.query(SharedSnapshot).first().workspace_id
        session.merge(Branding(workspace_id=of, primary_color=primary))
    page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address)
    link = page.get_by_role("link", name="Español")
    link.focus()
    link.evaluate("one => { one.style.color = getComputedStyle(one).outlineColor; }")
    assert link.evaluate(CONTRAST) >= 3
    with db.transaction(place.settings.operational_url) as session:
        session.delete(session.get_one(Branding, of))
    page.close()


def test_the_other_language_is_one_press_away(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Español").click()
    expect(page.get_by_role("heading", name="Clasificación")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "es"
    assert overflow(page) <= 0


def test_on_paper_it_keeps_its_table_and_loses_its_links(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 695, "height": 1000})
    page.goto(address)
    page.emulate_media(media="print")
    expect(page.get_by_role("columnheader", name="Spend")).to_be_visible()
    expect(page.get_by_role("link", name="Español")).to_be_hidden()
    assert overflow(page) <= 0
    pages = re.findall(rb"/Count (\d+)", page.pdf(prefer_css_page_size=True))
    assert max(map(int, pages)) <= 2
    page.close()
