"""The shop's own pages. A browser walks through them in tests/end_to_end/visit.py."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.fixtures.sandbox import RunningSandbox

TRACKER = "http://127.0.0.1:8000/tracker.js?key=trk_live_x&y=\"'<"


def page(sandbox: RunningSandbox, path: str, **form: str) -> httpx.Response:
    with httpx.Client(base_url=sandbox.url, follow_redirects=True, trust_env=False) as client:
        return client.post(path, data=form) if form else client.get(path)


def carry(sandbox: RunningSandbox, tracker: object) -> int:
    url = f"{sandbox.url}/__sandbox__/storefront"
    return httpx.put(url, json={"tracker": tracker}, trust_env=False).status_code


def test_pages_carry_the_tracker_that_they_were_told_of(sandbox: RunningSandbox) -> None:
    assert "carries no tracker" in page(sandbox, "/storefront").text
    assert carry(sandbox, "javascript:alert(1)") == 400
    assert carry(sandbox, TRACKER) == 200
    paths = ("/storefront", "/storefront/ads", "/storefront/checkout", "/storefront/asked", "/storefront/ordered")
    pages = [page(sandbox, path).text for path in paths]
    assert carry(sandbox, None) == 200
    sources = [html.unescape(one) for text in pages for one in re.findall(r'<script async src="([^"]*)">', text)]
    assert sources == [TRACKER] * len(paths)
    assert "carries no tracker" in page(sandbox, "/storefront").text


def test_each_ad_leads_to_the_shop_with_its_own_tags_filled_in(sandbox: RunningSandbox) -> None:
    found = [
        html.unescape(one) for one in re.findall(r'noreferrer" href="([^"]*)"', page(sandbox, "/storefront/ads").text)
    ]
    ads = {ad.id: ad for ad in sandbox.world.ads}
    named = [query for query in (parse_qs(urlsplit(one).query) for one in found) if "ad_id" in query]
    assert len(named) > 5 and "{{" not in str(found)
    for query in named:
        ad = ads[query["ad_id"][0]]
        assert (query["campaign_id"], query["ad_set_id"]) == ([ad.campaign_id], [ad.ad_set_id])
        assert query["fbclid"][0].startswith("sandbox.")


def test_an_order_is_told_to_the_tracker_with_its_price(sandbox: RunningSandbox) -> None:
    ordered = page(sandbox, "/storefront/checkout", email="ann@example.com")
    price = re.findall(r"<strong>([\d.]+) USD", page(sandbox, "/storefront").text)
    (told,) = re.findall(r'"purchase", (\{.*?\})\]', ordered.text)
    assert float(re.findall(r'"value": ([\d.]+)', told)[0]) == float(price[0]) > 0
    assert '"currency": "USD"' in told and re.search(r'"order_id": "\d{8}"', told)
    assert page(sandbox, "/storefront/trip", email="ann@example.com").url.path == "/storefront/asked"


def test_what_an_address_says_is_shown_as_text(sandbox: RunningSandbox) -> None:
    assert "<b>" not in page(sandbox, "/storefront/ordered?order=<b>x</b>").text
