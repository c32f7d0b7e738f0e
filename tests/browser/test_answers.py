"""What a visitor answers to a site that asks holds from then on, and the collector hears of it."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.tracked import CALLS, WAITING, Shop, opened

pytestmark = pytest.mark.browser

KEPT = "Object.keys(localStorage).filter((name) => name.startsWith('touchledger.'))"
FILL = """() => {
  for (let size = 2 ** 20, number = 0; size >= 1; number++) {
    try { localStorage.setItem(`fill${number}`, "x".repeat(size)); } catch { size /= 2; }
  }
}"""


def told_before_a_mark(shop: Shop, page: Page) -> list[str]:
    """Names of the events that came before one that the page sends now."""
    page.evaluate(f"fetch('{shop.collector}/api/tracking/mark', {{method: 'POST', body: '{{}}'}})")
    shop.heard("mark")
    return [body["eventName"] for _, body in shop.told if "eventName" in body]


def test_who_refused_before_the_tracker_was_there_is_not_told_of(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(calls=[*CALLS, ["consent", False]])
    page = opened(visitor, shop.address)
    assert told_before_a_mark(shop, page) == []
    assert page.evaluate(KEPT) == ["touchledger.consent"]


@pytest.mark.parametrize(
    ("attributes", "answer"),
    [("", {"analytics": True, "marketing": False}), ('data-consent="required"', {"analytics": True})],
)
def test_an_answer_from_before_the_tracker_was_there_holds_for_its_first_page_view(
    shop: Shop, visitor: BrowserContext, attributes: str, answer: dict[str, Any]
) -> None:
    shop.begin(attributes=attributes, calls=[*CALLS, ["consent", answer]])
    opened(visitor, shop.address)
    (menu,) = shop.heard("menu_opened")
    (view,) = shop.of("page_view")
    assert view["consent"] == menu["consent"] == answer


@pytest.mark.parametrize(
    "answer",
    [
        {"analytics": "denied"},
        {"analytics_storage": "denied", "ad_storage": "denied"},
        {"analytics": "No"},
        {"analytics": "DENY"},
        {"analytics": 0},
        {"analytics": ""},
        {"analytics": "limited"},
        "denied",
        "",
    ],
)
def test_a_refusal_may_be_said_in_the_words_that_consent_banners_have_for_it(
    shop: Shop, visitor: BrowserContext, answer: dict[str, str | int] | str
) -> None:
    shop.begin(attributes='data-consent="required"')
    page = opened(visitor, shop.address)
    page.evaluate("(answer) => touchledger.consent(answer)", answer)
    assert told_before_a_mark(shop, page) == []
    assert page.evaluate(KEPT) == ["touchledger.consent"]


@pytest.mark.parametrize("answer", ["granted", "Yes", {"analytics_storage": "granted"}, {"analytics": "ACCEPT"}])
def test_a_yes_may_be_said_in_their_words_too(
    shop: Shop, visitor: BrowserContext, answer: dict[str, str] | str
) -> None:
    shop.begin(attributes='data-consent="required"')
    page = opened(visitor, shop.address)
    page.evaluate("(answer) => touchledger.consent(answer)", answer)
    (view,) = shop.heard("page_view")
    assert view["consent"] == (answer if isinstance(answer, dict) else {"analytics": True})


def test_who_was_not_asked_yet_refuses_nothing_where_nothing_is_asked(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(calls=[["consent", {"analytics": "", "marketing": ""}], *CALLS])
    opened(visitor, shop.address)
    shop.heard("menu_opened")


def test_who_takes_an_answer_back_need_not_open_another_page_for_it(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    (menu,) = shop.heard("menu_opened")
    page.evaluate("touchledger.identify({userId: 'u1'})")
    for _ in range(2):
        page.evaluate("touchledger.consent({analytics: true, marketing: false})")
    (less,) = shop.heard("consent")
    assert less["userId"] == "u1"
    assert (less["consent"], less["anonymousId"]) == ({"analytics": True, "marketing": False}, menu["anonymousId"])
    page.evaluate("touchledger.consent(false)")
    refused = shop.heard("consent", 2)[1]
    assert refused["consent"] == {"analytics": False, "marketing": False}
    # of the visitor it tells which one it is, and no more
    assert refused["anonymousId"] == menu["anonymousId"]
    assert "userId" not in refused and "sessionIndex" not in refused
    assert page.evaluate(KEPT) == ["touchledger.consent"]


def test_a_full_storage_does_not_make_a_browser_forget_that_it_refused(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    page.evaluate(FILL)
    page.evaluate("touchledger.consent(false)")
    # the last word on it may come when its page is long gone
    shop.heard("consent")
    page.goto("about:blank")
    shop.begin()
    page = opened(visitor, shop.address)
    assert told_before_a_mark(shop, page) == []
    assert page.evaluate(KEPT) == ["touchledger.consent"]


def test_a_known_browser_that_begins_to_signal_a_refusal_is_told_of_one_last_time(
    shop: Shop, visitor: BrowserContext
) -> None:
    page = opened(visitor, shop.address)
    page.evaluate("touchledger.identify({userId: 'u1'})")
    (named,) = shop.heard("identify")
    page.wait_for_function(f"{WAITING} === 0")
    page.close()
    shop.begin()
    visitor.add_init_script("Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})")
    page = opened(visitor, shop.address)
    (refused,) = shop.heard("consent")
    assert (refused["gpc"], refused["anonymousId"]) == (True, named["anonymousId"]) and "userId" not in refused
    page.reload()
    assert told_before_a_mark(shop, page) == ["consent"]
    assert page.evaluate(KEPT) == []
