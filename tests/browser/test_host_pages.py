"""Pages that do odd things to themselves or to the tracker: nothing is lost, and nothing is thrown at them."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.tracked import Shop, opened

pytestmark = pytest.mark.browser


def test_a_call_that_is_none_loses_no_other(shop: Shop, visitor: BrowserContext) -> None:
    shop.begin(calls=[None, ["trak", "step"], 5, ["track", "purchase", {"value": 5, "currency": "EUR"}]])
    page = opened(visitor, shop.address)
    page.evaluate("touchledger.push(['trak'], ['track', 'step'])")
    (bought,) = shop.heard("purchase")
    assert bought["valueAmount"] == 5
    shop.heard("step")
