"""The tracker in a real browser, on a shop's pages, told to a collector on another origin."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.tracked import AD, WAITING, Shop, opened

pytestmark = pytest.mark.browser


def test_a_visit_tells_where_it_came_from_and_nothing_else_of_its_address(shop: Shop, visitor: BrowserContext) -> None:
    private = "email=ann%40example.com&token=opens-something&" + "gclid=" + "x" * 2000
    address = f"{shop.address}/boots?{AD}&fbclid=Click1&tl_id=1.token&{private}#section"
    visitor.add_cookies([
        {"name": "_fbp", "value": "fb.1.1700000000000.42", "url": shop.address},
        {"name": "_ga", "value": "GA1.1.111.222", "url": shop.address},
    ])  # fmt: skip
    opened(visitor, address, referer="https://search.example/find?q=a+private+question")
    (view,) = shop.heard("page_view")
    required = ("trackingKey", "eventId", "eventTimeClient", "anonymousId", "sessionId", "pageViewId")
    assert all(view[name] for name in required) and view["trackingKey"] == shop.key
    assert view["pageUrl"].startswith(f"{shop.address}/boots?utm_source=meta&utm_medium=paid&")
    assert "ad_id=a1" in view["pageUrl"] and "tl_id=1.token" in view["pageUrl"]
    assert not any(word in view["pageUrl"] for word in ("email", "token=", "section", "gclid"))
    assert view["utm"] == view["firstTouchUtm"] == {"source": "meta", "medium": "paid", "campaign": "autumn"}
    assert view["clickIds"] == view["firstTouchClickIds"] == {"fbclid": "Click1"}
    assert view["referrer"] == "https://search.example/"
    assert (view["fbp"], view["gaClientId"], view["sessionIndex"]) == ("fb.1.1700000000000.42", "111.222", 1)
    (menu,) = shop.heard("menu_opened")
    assert (menu["sessionId"], menu["anonymousId"]) == (view["sessionId"], view["anonymousId"])
    assert menu["pageUrl"] == f"{shop.address}/boots" and menu["eventId"] != view["eventId"]
    assert [cookie["name"] for cookie in visitor.cookies()] == ["_fbp", "_ga"]


def test_a_page_that_changes_its_address_itself_was_viewed_again(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, f"{shop.address}/list")
    page.evaluate("history.pushState({}, '', '/boots?colour=red')")
    page.evaluate("history.replaceState({}, '', '/boots?colour=blue')")
    page.evaluate("location.hash = 'reviews'")
    page.go_back()
    page.go_back()
    views = shop.heard("page_view", 3)
    assert [view["pageUrl"].removeprefix(shop.address) for view in views] == ["/list", "/boots", "/list"]
    assert len({view["pageViewId"] for view in views}) == 3 and len({view["sessionId"] for view in views}) == 1
    assert [view.get("referrer") for view in views] == [None, f"{shop.address}/", f"{shop.address}/"]


def test_another_ad_or_a_long_silence_begins_another_session(shop: Shop, visitor: BrowserContext) -> None:
    page = visitor.new_page()
    page.clock.install()
    page.goto(f"{shop.address}/?{AD}")
    first = shop.heard("page_view", 1)[-1]
    page.reload()
    page.goto(f"{shop.address}/?utm_source=news")
    again, other = shop.heard("page_view", 3)[1:]
    assert again["sessionId"] == first["sessionId"] and "utm_" not in again["pageUrl"]
    assert (other["previousSessionId"], other["sessionIndex"]) == (first["sessionId"], 2)
    assert (other["utm"], other["firstTouchUtm"]) == ({"source": "news"}, first["utm"])
    page.clock.fast_forward("29:00")
    page.evaluate("touchledger.track('scrolled')")
    assert shop.heard("scrolled", 1)[0]["sessionId"] == other["sessionId"]
    page.clock.fast_forward("31:00")
    page.evaluate("touchledger.track('scrolled')")
    late = shop.heard("scrolled", 2)[1]
    # the ad of half an hour ago did not bring them again
    assert (late["sessionIndex"], late["pageUrl"]) == (3, f"{shop.address}/") and "utm" not in late
    assert late["firstTouchUtm"] == first["utm"]


def test_a_page_loaded_again_much_later_does_not_come_from_its_ad_again(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, f"{shop.address}/?{AD}")
    shop.heard("menu_opened")
    # a browser whose clock is played has no kinds of navigation
    page.evaluate("""() => {
      const session = JSON.parse(localStorage["touchledger.session"]);
      localStorage["touchledger.session"] = JSON.stringify({ ...session, at: session.at - 31 * 60_000 });
    }""")
    page.reload()
    again = shop.heard("page_view", 2)[1]
    assert (again["sessionIndex"], again["pageUrl"]) == (2, f"{shop.address}/") and "utm" not in again


def test_a_lead_form_tells_who_asks_and_nothing_else_that_was_typed(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    page.get_by_role("button", name="Ask").click()
    (lead,) = shop.heard("lead_submitted")
    assert lead["identify"] == {"firstName": "Ann", "email": "ann@example.com", "phone": "+14155550100"}
    assert lead["payload"] == {"form": "trip"}
    assert not any(word in str(shop.told) for word in ("secret note", "hidden@"))


def test_what_is_typed_into_other_forms_is_a_signal_or_stays_where_it_is(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    for name in ("Sign in", "Whisper", "Subscribe"):
        page.get_by_role("button", name=name).click()
        page.wait_for_url("**/thanks**")
        page.goto(shop.address)
    signals = shop.heard("identity-signal")
    page.wait_for_function(f"{WAITING} === 0")
    found = {(one["idType"], one["idValue"], one["trackingKey"]) for one in signals}
    assert found == {("email", "bo@example.com", shop.key)}
    assert {one["anonymousId"] for one in signals} <= {view["anonymousId"] for view in shop.of("page_view")}
    assert not any(word in str(shop.told) for word in ("hunter2", "cy@", "di@"))


def test_on_a_healthcare_profile_nothing_typed_is_told(shop: Shop, visitor: BrowserContext) -> None:
    shop.change(privacy_mode="hipaa")
    page = opened(visitor, shop.address)
    page.get_by_role("button", name="Subscribe").click()
    page.wait_for_url("**/thanks**")
    page.get_by_role("button", name="Ask").click()
    (lead,) = shop.heard("lead_submitted")
    assert "identify" not in lead and shop.of("identity-signal") == []
    assert "@" not in str(shop.told)


def test_a_purchase_carries_its_amount_and_whoever_was_named(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    page.evaluate("touchledger.identify({userId: 'u1', email: 'ann@example.com'})")
    page.evaluate("touchledger.push(['track', 'purchase', {value: 120.5, currency: 'USD', order_id: 'o1', items: 2}])")
    (named,), (bought,) = shop.heard("identify"), shop.heard("purchase")
    assert named["identify"] == {"userId": "u1", "email": "ann@example.com"}
    assert (bought["valueAmount"], bought["currency"], bought["order_id"]) == (120.5, "USD", "o1")
    assert (bought["payload"], bought["userId"]) == ({"items": 2}, "u1")
    page.evaluate("touchledger.reset(); touchledger.track('signed_out')")
    (after,) = shop.heard("signed_out")
    assert "userId" not in after and after["anonymousId"] != bought["anonymousId"]


def test_nothing_is_lost_offline(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    visitor.set_offline(True)
    for number in range(5):
        page.evaluate(f"touchledger.track('step', {{number: {number}}})")
    page.wait_for_function(f"{WAITING} === 5")
    assert shop.of("step") == []
    visitor.set_offline(False)
    assert [step["payload"]["number"] for step in shop.heard("step", 5)] == [0, 1, 2, 3, 4]
    page.wait_for_function(f"{WAITING} === 0")
    assert len(shop.of("step")) == 5


def test_a_refusal_for_now_is_asked_again_and_one_for_good_is_not(shop: Shop, visitor: BrowserContext) -> None:
    page = visitor.new_page()
    page.clock.install()
    page.goto(shop.address)
    shop.heard("menu_opened")
    shop.begin(503, 429, 400)
    page.evaluate("touchledger.track('first'); touchledger.track('second')")
    shop.await_asked(1)
    page.clock.fast_forward("00:10")
    shop.await_asked(2)
    page.clock.fast_forward("00:30")
    (second,) = shop.heard("second")
    assert [status for _, status in shop.asked] == [503, 429, 400, 202]
    assert len({event_id for event_id, _ in shop.asked[:3]}) == 1 and shop.asked[3][0] == second["eventId"]


COUNT_ANSWERS = """() => {
    const original = fetch;
    window.answersSeen = 0;
    // counted after whoever waits for the answer has read it
    window.fetch = (...given) => original(...given).finally(() => setTimeout(() => window.answersSeen++));
}"""


def test_what_waits_when_a_page_is_left_goes_with_a_beacon_and_once_more(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    shop.begin(503)
    # what is still under way when the page is left is not sent twice, so the page must have seen the refusal
    page.evaluate(COUNT_ANSWERS)
    page.evaluate("touchledger.track('refused')")
    page.wait_for_function("answersSeen === 1")
    page.goto("about:blank")
    (refused,) = shop.heard("refused")
    # nobody knows how a beacon ended, so the next page asks again; the collector knows the event
    page.goto(shop.address)
    shop.heard("menu_opened")
    page.wait_for_function(f"{WAITING} === 0")
    assert [status for event_id, status in shop.asked if event_id == refused["eventId"]] == [503, 202, 202]


@pytest.mark.parametrize("signal", ["gpc", "refused", "not asked"])
def test_who_does_not_agree_is_neither_told_of_nor_remembered(
    shop: Shop, visitor: BrowserContext, signal: str
) -> None:  # fmt: skip
    if signal == "gpc":
        visitor.add_init_script("Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})")
    shop.begin(attributes='data-consent="required"' if signal == "not asked" else "")
    page = opened(visitor, shop.address)
    if signal == "refused":
        shop.heard("menu_opened")
        page.evaluate("touchledger.consent(false)")
        shop.heard("consent")
        shop.begin()
    page.evaluate("touchledger.identify({email: 'ann@example.com'}); touchledger.track('step')")
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url("**/thanks**")
    if signal == "gpc":
        page.evaluate("touchledger.consent(true)")
    assert shop.told == []
    kept = page.evaluate("Object.keys(localStorage)")
    assert kept == (["touchledger.consent"] if signal == "refused" else [])


def test_who_agrees_later_is_told_of_from_the_page_they_are_on(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(attributes='data-consent="required"')
    page = opened(visitor, f"{shop.address}/?{AD}", referer="https://search.example/")
    page.evaluate("history.pushState({}, '', '/boots')")
    page.evaluate("touchledger.consent({analytics: true, marketing: false})")
    (view,) = shop.heard("page_view")
    assert view["consent"] == {"analytics": True, "marketing": False}
    assert view["pageUrl"].startswith(f"{shop.address}/boots?utm_source=meta") and view["utm"]["source"] == "meta"
    page.reload()
    assert shop.heard("page_view", 2)[1]["anonymousId"] == view["anonymousId"]


@pytest.mark.parametrize("occasion", ["online", "pagehide"])
def test_what_waits_from_before_a_site_asked_for_consent_waits_for_it(
    shop: Shop, visitor: BrowserContext, occasion: str
) -> None:
    shop.begin(attributes='data-consent="required"')
    page = opened(visitor, shop.address)
    waiting = """localStorage.setItem(`touchledger.waiting.${Date.now()}.x`,
        JSON.stringify(["api/tracking/collect", JSON.stringify({eventName: "before"})]))"""
    page.evaluate(waiting)
    page.evaluate(f"dispatchEvent(new Event('{occasion}'))")
    # whatever was sent would be there before this is
    page.evaluate(f"fetch('{shop.collector}/api/tracking/mark', {{method: 'POST', body: '{{}}'}})")
    shop.heard("mark")
    assert (shop.of("before"), page.evaluate(WAITING)) == ([], 1)
    page.evaluate("touchledger.consent(true)")
    shop.heard("before")
    page.wait_for_function(f"{WAITING} === 0")


def test_a_page_opened_to_be_verified_reports_its_nonce(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(attributes='data-consent="required"')
    visitor.add_init_script("if (location.search) history.replaceState({}, '', location.pathname);")
    opened(visitor, f"{shop.address}/boots?tl_verify=the-nonce&x=1")
    (beacon,) = shop.heard("beacon")
    assert beacon == {"nonce": "the-nonce", "trackingKey": shop.key, "pageUrl": f"{shop.address}/boots"}


def test_without_storage_the_tracker_still_tells(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked') }})")
    page = opened(visitor, shop.address)
    page.evaluate("touchledger.track('step')")
    view, step = shop.heard("page_view")[0], shop.heard("step")[0]
    assert (view["anonymousId"], view["sessionId"]) == (step["anonymousId"], step["sessionId"])


def test_what_is_too_large_to_be_sent_does_not_hold_up_the_rest(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    # letters of two bytes: half as many as may be sent
    page.evaluate("touchledger.track('long', {text: 'ж'.repeat(40_000)})")
    page.evaluate("touchledger.track('longer', {order_id: 'ж'.repeat(40_000)})")
    page.evaluate("touchledger.track('step')")
    shop.heard("step")
    (long,) = shop.of("long")
    assert "payload" not in long and shop.of("longer") == []
    page.wait_for_function(f"{WAITING} === 0")


COUNT_TIMERS = """() => {
    const [start, stop] = [setTimeout, clearTimeout];
    window.timers = new Set();
    window.setTimeout = (work, ...rest) => {
      const timer = start(() => { timers.delete(timer); work(); }, ...rest);
      timers.add(timer);
      return timer;
    };
    window.clearTimeout = (timer) => { timers.delete(timer); stop(timer); };
}"""


def test_however_much_waits_for_a_collector_it_is_asked_again_by_one_clock(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    page.wait_for_function(f"{WAITING} === 0")
    page.evaluate(COUNT_TIMERS)
    visitor.set_offline(True)
    for number in range(1, 5):
        page.evaluate("touchledger.track('step')")
        page.wait_for_function(f"{WAITING} === {number}")
        page.wait_for_function("timers.size > 0")
    page.wait_for_function("timers.size === 1", timeout=60_000)
    visitor.set_offline(False)
    assert len(shop.heard("step", 4)) == 4
