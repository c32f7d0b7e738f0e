"""A report as HTML, opened from a mail on a phone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from api.reports.document import Brand, Order, render
from tests.api.reports import conftest as reports
from tests.browser.place import overflow

pytestmark = pytest.mark.browser
gather = reports.gather
MUCH = 1234567.89


@pytest.mark.parametrize("template", ["performance_summary", "pacing"])
def test_it_fits_a_phone_and_its_tables_show_whole_words(page: Page, gather: reports.Gather, template: str) -> None:
    found = gather(template)
    rows = [{**found.entities[0], "campaign_name": "Summer collection", "spend": MUCH, "outcome_value": MUCH}]
    pacing = {**found.pacing, "expected_spend": MUCH, "projected_spend": MUCH}
    order = Order(
        template, "en", "html", "Shop", Brand("An agency of some renown", website_url="https://agency.example")
    )
    page.set_content(render(order, replace(found, entities=rows, pacing=pacing)).decode())
    assert overflow(page) <= 0
    for row in page.locator("tbody tr").all():
        box = row.get_by_role("cell").first.bounding_box()
        assert box is not None and box["width"] >= 80
    # what lies beside is reached with the keyboard too
    table = page.get_by_role("main").get_by_role("region").first
    table.focus()
    expect(table).to_be_focused()


def test_headlines_of_large_amounts_stay_on_the_page(page: Page, gather: reports.Gather) -> None:
    found = gather("pacing")
    much = dict.fromkeys(("spend_mtd", "budget", "expected_spend", "projected_spend"), 98765432109.87)
    told = replace(found, pacing={**found.pacing, **much})
    page.set_viewport_size({"width": 1000, "height": 800})
    page.set_content(render(Order("pacing", "en", "html", "Shop", Brand("Agency")), told).decode())
    assert overflow(page) <= 0
    assert max(page.eval_on_selector_all(".headline", "all => all.map(one => one.scrollWidth - one.clientWidth)")) <= 0
