"""Signing in and consenting as a person does it: with a browser, on a phone, with the keyboard, in the dark."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from werkzeug.serving import make_server

from api import db, passwords
from api.app import create_app
from api.migrate import upgrade
from api.models import App, User
from tests.api.oauth.walk import Walker
from tests.factories import accounts, people
from touchledger.settings import Settings

pytestmark = pytest.mark.browser
PASSWORD = "a long enough sentence"
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
EMAIL = "a.person.with.a.very.long.address.indeed@a-rather-long-domain-name.example.com"


class Callback(BaseHTTPRequestHandler):
    """What a program on the person's machine listens with."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>back</title><p>Back in the program.</p>")

    def log_message(self, *_: object) -> None:
        """Quiet."""


@dataclass(frozen=True)
class Place:
    """A deployment with one person, and a program that listens on this machine."""

    address: str
    settings: Settings
    back: str

    def register(self, name: str = "Campaign assistant") -> str:
        """The id of a new agent."""
        walker = Walker(create_app(self.settings).test_client(), redirect_uri=self.back)
        return str(walker.register(client_name=name).get_json()["client_id"])

    def asking(self, client_id: str, **changed: str) -> str:
        """Where the agent sends the person."""
        asked = Walker(create_app(self.settings).test_client(), client_id, self.back).asking(**changed)
        return f"{self.address}/oauth/authorize?{urlencode(asked)}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    settings = Settings(home=tmp_path_factory.mktemp("consent"))
    url = settings.operational_url
    upgrade(url)
    ada = people.user(url, email=EMAIL)
    with db.transaction(url) as session:
        session.get_one(User, ada.id).password_hash = passwords.hashed(PASSWORD)
    for name in ("Bakery", "A shop with a name that goes on and on and on until nobody reads it any more"):
        people.member(url, ada, accounts.profile(url, name=name).workspace_id)
    server = make_server("127.0.0.1", 0, create_app(settings), threaded=True)
    listening = HTTPServer(("127.0.0.1", 0), Callback)
    threads = [threading.Thread(target=one.serve_forever) for one in (server, listening)]
    for thread in threads:
        thread.start()
    yield Place(f"http://127.0.0.1:{server.server_port}", settings, f"http://127.0.0.1:{listening.server_port}/back")
    for one in (server, listening):
        one.shutdown()
    for thread in threads:
        thread.join()
    server.server_close()
    listening.server_close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    # a refused sign-in is an error to the browser, and is meant
    assert [one for one in complaints if "status of 4" not in one] == []


def sign_in(page: Page) -> None:
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


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
