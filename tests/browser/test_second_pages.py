"""Visits whose first page could tell nothing: the second one tells what brought them."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.test_arrivals import events, touches
from tests.browser.tracked import AD, Shop, opened

pytestmark = pytest.mark.browser


def test_who_agrees_on_the_second_page_still_came_from_the_ad(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(attributes='data-consent="required"')
    page = opened(visitor, f"{shop.address}/?{AD}&fbclid=Click1")
    page.evaluate("location.href = '/boots'")
    page.wait_for_url("**/boots")
    page.wait_for_function("!!window.touchledger.track")
    page.evaluate("touchledger.consent(true)")
    (view,) = shop.heard("page_view")
    assert view["pageUrl"].startswith(f"{shop.address}/boots?utm_source=meta&")
    assert (view["utm"]["source"], view["clickIds"]) == ("meta", {"fbclid": "Click1"})
    page.evaluate("location.href = '/three'")
    page.wait_for_url("**/three")
    assert "utm" not in shop.heard("page_view", 2)[1]
    (touch,) = touches(shop, events(shop))
    assert (touch["ad_id"], touch["click_id"], touch["is_direct"]) == ("a1", "Click1", False)


def test_a_page_that_leads_on_before_the_tracker_is_there_loses_no_ad(shop: Shop, visitor: BrowserContext) -> None:
    visitor.add_init_script("if (location.search) location.replace('/en/');")
    page = visitor.new_page()
    page.goto(f"{shop.address}/?{AD}", wait_until="commit")
    page.wait_for_url("**/en/")
    views = shop.heard("page_view")
    assert views[-1]["utm"]["source"] == "meta"
    assert len(touches(shop, events(shop))) == 1


@pytest.mark.parametrize("known", ["visited", "reset", "no storage"])
def test_the_page_before_brings_nobody_again(shop: Shop, visitor: BrowserContext, known: str) -> None:
    if known == "no storage":
        visitor.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked') }})")
    page = opened(visitor, f"{shop.address}/?{AD}")
    shop.heard("menu_opened")
    if known == "visited":
        page.evaluate("""() => {
          const session = JSON.parse(localStorage["touchledger.session"]);
          localStorage["touchledger.session"] = JSON.stringify({ ...session, at: session.at - 31 * 60_000 });
        }""")
    if known == "reset":
        page.evaluate("touchledger.reset()")
    page.evaluate("location.href = '/boots'")
    page.wait_for_url("**/boots")
    second = shop.heard("page_view", 2)[1]
    assert second["pageUrl"] == f"{shop.address}/boots" and "utm" not in second
    assert second["sessionIndex"] == (2 if known == "visited" else 1)


def test_a_browser_that_may_not_be_remembered_is_not_by_a_reset(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(attributes='data-consent="required"')
    page = opened(visitor, shop.address)
    page.evaluate("touchledger.reset()")
    assert page.evaluate("localStorage.length") == 0
