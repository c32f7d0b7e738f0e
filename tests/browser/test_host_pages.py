"""Pages that do odd things to themselves or to the tracker: nothing is lost, and nothing is thrown at them."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.tracked import AD, WAITING, Shop, opened

pytestmark = pytest.mark.browser

# as version 1.6 of Prototype.js has it
PROTOTYPE = """
Array.prototype.toJSON = function () { return `[${this.map((one) => JSON.stringify(one)).join(", ")}]`; };
Object.keys = (object) => { const names = []; for (const name in object) names.push(name); return names; };
"""


def test_a_call_that_is_none_loses_no_other(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(calls=[None, ["trak", "step"], 5, ["track", "purchase", {"value": 5, "currency": "EUR"}]])
    page = opened(visitor, shop.address)
    page.evaluate("touchledger.push(['trak'], ['track', 'step'])")
    (bought,) = shop.heard("purchase")
    assert bought["valueAmount"] == 5
    shop.heard("step")


def test_a_library_that_changes_how_json_is_written_loses_nothing(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script(PROTOTYPE)
    page = opened(visitor, f"{shop.address}/?{AD}")
    page.evaluate("touchledger.track('purchase', {value: 12.5, currency: 'EUR', items: ['boots', 2]})")
    (bought,) = shop.heard("purchase")
    assert (bought["valueAmount"], bought["currency"], bought["payload"]) == (12.5, "EUR", {"items": ["boots", 2]})
    page.wait_for_function(f"{WAITING} === 0")
    # the page's own way is left to it
    assert page.evaluate("JSON.stringify(['a'])") == '"[\\"a\\"]"'


def test_what_an_earlier_tracker_could_not_note_does_not_hold_up_the_rest(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    page.evaluate("localStorage[`touchledger.waiting.${Date.now() - 5}.x`] = JSON.stringify('[\"api\"]')")
    page.evaluate("touchledger.track('step')")
    shop.heard("step")
    page.wait_for_function(f"{WAITING} === 0")


def test_a_page_that_took_what_the_tracker_needs_is_left_in_peace(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script("window.URL = '/base/';")
    page = visitor.new_page()
    with page.expect_console_message(lambda said: said.text.startswith("touchledger: TypeError: URL")):
        page.goto(shop.address)
    # the fixture fails for what is thrown into the page


def test_a_page_whose_history_cannot_be_followed_tells_of_the_rest(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script("Object.freeze(History.prototype); Object.freeze(history);")
    opened(visitor, shop.address)
    shop.heard("page_view")
    shop.heard("menu_opened")


@pytest.mark.parametrize("wrong", ["'x'.repeat(200)", "{a: 1}", "true"])
def test_a_user_id_that_is_none_does_not_silence_the_visitor(shop: Shop, visitor: BrowserContext, wrong: str) -> None:
    page = opened(visitor, shop.address)
    page.evaluate("touchledger.identify({userId: 'u1'})")
    page.evaluate(f"touchledger.identify({{userId: {wrong}}}); touchledger.track('step')")
    assert shop.heard("step")[0]["userId"] == "u1"
    # as an earlier tracker has remembered it
    page.evaluate(f"""() => {{
      const visitor = JSON.parse(localStorage["touchledger.visitor"]);
      localStorage["touchledger.visitor"] = JSON.stringify({{ ...visitor, userId: {wrong} }});
      touchledger.track("later");
    }}""")
    assert "userId" not in shop.heard("later")[0]


def test_what_cannot_be_written_is_left_out_of_its_event(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    page.evaluate("""() => {
      const round = {};
      round.round = round;
      touchledger.track("purchase", { value: 5, currency: "EUR", order_id: "o1", round });
      touchledger.track("step", { many: 10n });
    }""")
    (bought,), (step,) = shop.heard("purchase"), shop.heard("step")
    assert (bought["valueAmount"], bought["order_id"]) == (5, "o1")
    assert "payload" not in bought and "payload" not in step


def test_the_console_tells_why_an_event_was_refused(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    shop.begin(422)
    said = 'touchledger: the collector refused an event with 422: {"error": {"message": "currency: must be a code."}}'
    with page.expect_console_message(lambda message: message.text == said):
        page.evaluate("touchledger.track('purchase', {value: 5})")
    page.evaluate("touchledger.track('step')")
    shop.heard("step")


def test_a_script_that_puts_headers_into_all_requests_of_the_page_holds_none_up(
    shop: Shop, visitor: BrowserContext
) -> None:
    # the collector let no such header in, so all but the beacon of a page that was left was lost
    visitor.add_init_script(
        "const before = fetch; window.fetch = (url, given) => before(url, {...given, headers: {traceparent: '00-1'}});"
    )
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    page.wait_for_function(f"{WAITING} === 0")
