"""Forms that become events: once, and whatever the page made of them."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.tracked import Shop, opened

pytestmark = pytest.mark.browser


def test_a_form_that_is_sent_with_two_clicks_is_one_lead(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    shop.heard("menu_opened")
    page.evaluate("""() => {
      const button = document.querySelector("#trip button");
      button.click();
      button.click();
    }""")
    page.wait_for_url("**/thanks**")
    shop.heard("menu_opened", 2)
    assert len(shop.of("lead_submitted")) == 1
