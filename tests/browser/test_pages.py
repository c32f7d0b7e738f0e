"""The pages as a reader meets them: complete, quiet, and fed by this deployment alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from api import errors

pytestmark = pytest.mark.browser
PAGES = ("/", "/docs", "/docs/guides", "/docs/api", "/docs/errors", "/docs/models", "/docs/data")


class Visit:
    """One page being looked at, with what it said on the console and whom it asked."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda asked: self._note(asked.url))

    def _note(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.strangers.append(url)

    def go(self, path: str) -> Page:
        self.page.goto(self.address + path, wait_until="networkidle")
        return self.page


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield Visit(page, address)
    page.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_complains_of_nothing_and_asks_no_stranger(visit: Visit, path: str) -> None:
    visit.go(path)
    assert visit.complaints == []
    assert visit.strangers == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_a_phone(browser: Browser, address: str, path: str) -> None:
    page = browser.new_page(viewport={"width": 320, "height": 800})
    page.goto(address + path, wait_until="networkidle")
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.close()


def test_the_reference_shows_the_operations_of_the_document(visit: Visit) -> None:
    page = visit.go("/docs")
    expect(page.locator(".opblock-summary-path", has_text="/api/v1/campaigns").first).to_be_visible()
    page.locator(".opblock-summary", has_text="/api/v1/campaigns/unattributed").click()
    expect(page.get_by_text("date_from").first).to_be_visible()
    assert visit.complaints == []


@pytest.mark.parametrize("width", [320, 390])
def test_an_operation_that_is_opened_fits_a_phone(browser: Browser, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{address}/docs#/campaigns/campaign_trend")
    expect(page.locator(".opblock.is-open .responses-table").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    expect(page.locator(".opblock.is-open .response-col_links").first).to_be_hidden()
    page.close()


def test_docs_url_opens_at_its_code(visit: Visit) -> None:
    page = visit.go("/docs/errors#rate_limit_exceeded")
    expect(page.locator("#rate_limit_exceeded")).to_be_in_viewport()
    assert page.locator("main [id]").count() >= len(errors.CATALOGUE)


@pytest.mark.parametrize(
    ("path", "width"),
    [("/docs/errors#rate_limit_exceeded", 320), ("/docs/models#renewals", 390), ("/docs/models#renewals", 1280)],
)
def test_a_link_into_a_page_leads_to_a_heading_that_nothing_covers(
    browser: Browser, address: str, path: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 700})
    page.goto(address + path, wait_until="networkidle")
    heading = page.locator("#" + path.partition("#")[2]).bounding_box()
    bar = page.locator(".bar").bounding_box()
    assert heading is not None and bar is not None
    assert heading["y"] >= max(0, bar["y"] + bar["height"])
    page.close()


def test_the_models_page_shows_its_worked_table(visit: Visit) -> None:
    page = visit.go("/docs/models")
    expect(page.get_by_role("heading", name="By hand").first).to_be_visible()
    expect(page.get_by_text(re.compile("time_decay")).first).to_be_visible()
    assert page.locator("table").count() >= 2


def test_every_page_is_reached_from_the_first(visit: Visit) -> None:
    page = visit.go("/")
    linked = set(page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))"))
    assert {path for path in PAGES if path != "/"} <= linked


@pytest.mark.parametrize("path", ["/docs/errors", "/docs/models"])
def test_no_finger_meets_two_entries_of_an_index_at_once(browser: Browser, address: str, path: str) -> None:
    page = browser.new_page(viewport={"width": 320, "height": 700})
    page.goto(address + path, wait_until="networkidle")
    heights = page.eval_on_selector_all(".index a", "all => all.map(one => one.getBoundingClientRect().height)")
    # WCAG 2.2, 2.5.8
    assert heights and min(heights) >= 24
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("guide", ["collector", "likelihood", "models", "routes"])
def test_a_name_in_a_table_breaks_between_its_words_alone(
    browser: Browser, address: str, guide: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{address}/docs/{guide}", wait_until="networkidle")
    # a word that stands on two lines has two boxes; it broke anywhere, in the middle of `eventTimeClient`
    broken = page.evaluate("""() => {
        const words = []
        for (const cell of document.querySelectorAll(".scroll code")) for (const piece of cell.childNodes) {
            if (piece.nodeType !== Node.TEXT_NODE || /[\\s?-]/.test(piece.data)) continue
            const range = document.createRange()
            range.selectNode(piece)
            if (range.getClientRects().length > 1) words.push(piece.data)
        }
        return words
    }""")
    assert broken == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.close()


def test_only_the_page_that_is_open_is_underlined_where_colours_are_the_readers_own(
    browser: Browser, address: str
) -> None:
    page = browser.new_page(forced_colors="active")
    page.goto(f"{address}/docs/guides")
    lines = page.eval_on_selector_all(
        ".bar nav a", "all => all.map(one => [one.innerText, parseFloat(getComputedStyle(one).borderBottomWidth) > 0])"
    )
    assert [name for name, is_underlined in lines if is_underlined] == ["Guides"]
    page.close()
