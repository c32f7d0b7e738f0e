"""What counts as an arrival at a site, where it came from, and what becomes of it at the collector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import BrowserContext

from api import db
from api.models import IngestedRecord
from tests.browser.tracked import AD, AGENT, Shop, opened

pytestmark = pytest.mark.browser

HALF_AN_HOUR_AGO = """() => {
  const session = JSON.parse(localStorage["touchledger.session"]);
  localStorage["touchledger.session"] = JSON.stringify({ ...session, at: session.at - 31 * 60_000 });
}"""


def touches(shop: Shop, events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the collector makes of one visitor's events in this order."""
    assert shop.client and shop.settings
    visitors = set()
    for event in events:
        answer = shop.client.post("/api/tracking/collect", json=event, headers={"User-Agent": AGENT})
        assert answer.status_code == 202, answer.text
        visitors.add(event["anonymousId"])
    kept = sa.select(IngestedRecord.record).where(IngestedRecord.dataset == "touches").order_by(IngestedRecord.id)
    with db.transaction(shop.settings.operational_url) as session:
        return [one for one in session.scalars(kept) if one["anonymous_id"] in visitors]


def events(shop: Shop) -> list[dict[str, Any]]:
    """The events that were told."""
    return [body for _, body in shop.told]


def test_a_page_that_nobody_sees_yet_tells_nothing(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script("Object.defineProperty(document, 'prerendering', {get: () => !window.isShown})")
    page = opened(visitor, f"{shop.address}/?{AD}")
    page.evaluate("touchledger.track('called')")
    page.evaluate("touchledger.push(['track', 'pushed'])")
    page.evaluate(f"fetch('{shop.collector}/api/tracking/mark', {{method: 'POST', body: '{{}}'}})")
    shop.heard("mark")
    assert events(shop) == [{}] and page.evaluate("localStorage.length") == 0
    shop.begin()
    page.evaluate("window.isShown = true; document.dispatchEvent(new Event('prerenderingchange'))")
    shop.heard("pushed")
    assert [event["eventName"] for event in events(shop)] == ["page_view", "menu_opened", "called", "pushed"]


def test_who_reads_a_page_for_longer_than_a_session_did_not_arrive_again(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, f"{shop.address}/?{AD}", referer="https://l.facebook.com/")
    (menu,) = shop.heard("menu_opened")
    page.evaluate(HALF_AN_HOUR_AGO)
    page.evaluate("touchledger.track('lead_submitted')")
    (lead,) = shop.heard("lead_submitted")
    page.evaluate(HALF_AN_HOUR_AGO)
    page.evaluate("history.pushState({}, '', '/boots')")
    third = shop.heard("page_view", 2)[1]
    assert [one["sessionIndex"] for one in (menu, lead, third)] == [1, 2, 3]
    (touch,) = touches(shop, events(shop))
    assert (touch["ad_id"], touch["referrer_host"], touch["session_id"]) == ("a1", "l.facebook.com", menu["sessionId"])


@pytest.mark.parametrize(
    ("query", "referrer", "expected"),
    [
        (f"?{AD}", "https://l.facebook.com/", {"ad_id": "a1", "utm_source": "meta", "is_direct": False}),
        ("?utm_source=news&fbclid=c1", None, {"utm_source": "news", "click_id": "c1", "is_direct": False}),
        ("", "https://search.example/", {"referrer_host": "search.example", "is_direct": False}),
        ("", None, {"is_direct": True}),
    ],
)
def test_events_that_come_before_the_one_that_opened_their_visit_open_no_second(
    shop: Shop, visitor: BrowserContext, query: str, referrer: str | None, expected: dict[str, Any]
) -> None:
    page = opened(visitor, f"{shop.address}/{query}", referer=referrer)
    shop.heard("menu_opened")
    page.goto(f"{shop.address}/boots", referer=f"{shop.address}/")
    shop.heard("menu_opened", 2)
    told = events(shop)
    (touch,) = touches(shop, reversed(told))
    assert expected.items() <= touch.items()
    assert touch["occurred_at"][:19] == told[0]["eventTimeClient"][:19]


def test_a_page_loaded_again_to_ask_for_consent_is_still_reached_from_its_ad(
    shop: Shop, visitor: BrowserContext
) -> None:
    shop.begin(attributes='data-consent="required"')
    page = opened(visitor, f"{shop.address}/?{AD}", referer="https://l.facebook.com/")
    page.reload()
    page.evaluate("touchledger.consent(true)")
    (view,) = shop.heard("page_view")
    assert (view["utm"]["source"], view["referrer"]) == ("meta", "https://l.facebook.com/")
    page.reload()
    assert "utm" not in shop.heard("page_view", 2)[1]


def test_a_page_that_cleans_its_address_first_is_still_reached_from_its_ad(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script("if (location.search) history.replaceState({}, '', '/home');")
    opened(visitor, f"{shop.address}/?{AD}&fbclid=Click1")
    (view,) = shop.heard("page_view")
    assert (view["utm"]["source"], view["clickIds"]) == ("meta", {"fbclid": "Click1"})
    assert view["pageUrl"].startswith(f"{shop.address}/home?utm_source=meta&")


def test_parameters_count_in_any_case_and_by_their_first_value(shop: Shop, visitor: BrowserContext) -> None:
    opened(visitor, f"{shop.address}/?utm_source=&UTM_Source=news&utm_source=late&GCLID=Click1")
    (view,) = shop.heard("page_view")
    assert (view["utm"], view["clickIds"]) == ({"source": "news"}, {"gclid": "Click1"})
    assert view["pageUrl"] == f"{shop.address}/?utm_source=news&gclid=Click1"


def test_an_app_that_opens_the_page_is_where_its_visitor_came_from(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script("Object.defineProperty(document, 'referrer', {value: 'android-app://com.slack/a-channel'})")
    opened(visitor, shop.address)
    (view,) = shop.heard("page_view")
    assert view["referrer"] == "android-app://com.slack/"
    (touch,) = touches(shop, [view])
    assert touch["referrer_host"] == "com.slack"


def test_a_page_in_a_sandbox_which_has_no_cookies_tells_too(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    page.evaluate("""() => {
      const frame = document.createElement("iframe");
      frame.sandbox = "allow-scripts";
      frame.src = "/framed";
      document.body.append(frame);
    }""")
    assert shop.heard("page_view", 2)[1]["pageUrl"] == f"{shop.address}/framed"


def test_a_clock_that_was_put_back_does_not_keep_a_session_open(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, f"{shop.address}/?{AD}")
    shop.heard("menu_opened")
    page.evaluate("""() => {
      const session = JSON.parse(localStorage["touchledger.session"]);
      localStorage["touchledger.session"] = JSON.stringify({ ...session, at: session.at + 24 * 3600_000 });
    }""")
    page.goto("about:blank")
    page.goto(f"{shop.address}/?{AD}")
    again = shop.heard("page_view", 2)[1]
    assert (again["sessionIndex"], again["utm"]["source"]) == (2, "meta")


def test_a_label_with_a_letter_that_no_text_holds_does_not_cost_the_visit(shop: Shop, visitor: BrowserContext) -> None:
    opened(visitor, f"{shop.address}/?utm_source=a%00&gclid=%00&utm_medium=paid")
    (view,) = shop.heard("page_view")
    (touch,) = touches(shop, [view])
    assert touch["utm_medium"] == "paid" and "click_id" not in touch
