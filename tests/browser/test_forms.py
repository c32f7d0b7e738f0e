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


def test_a_field_called_id_does_not_stand_for_the_forms_own(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    # a library that draws pages keeps its own notes on elements, which lead round in circles
    page.evaluate("""() => {
      const field = Object.assign(document.createElement("input"), { type: "hidden", name: "id" });
      document.getElementById("trip").append(Object.assign(field, { note: { field } }));
    }""")
    page.get_by_role("button", name="Ask").click()
    (lead,) = shop.heard("lead_submitted")
    assert lead["payload"] == {"form": "trip"}


def test_a_field_called_as_something_of_the_language_is_not_read(shop: Shop, visitor: BrowserContext) -> None:
    page = opened(visitor, shop.address)
    page.evaluate("document.querySelector('#trip [name=note]').name = 'constructor'")
    page.get_by_role("button", name="Ask").click()
    shop.heard("lead_submitted")
    assert "secret note" not in str(shop.told)
