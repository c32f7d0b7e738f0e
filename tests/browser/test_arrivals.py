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
