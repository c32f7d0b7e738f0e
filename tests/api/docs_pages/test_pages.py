"""The pages for people: complete, offline, and safe against what they show."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from api.docs_pages.pages import ASSETS
from touchledger.settings import Settings

PAGES = ["/", "/docs", "/docs/guides", "/docs/api", "/docs/models", "/docs/errors", "/docs/data"]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_nothing_from_elsewhere(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert response.mimetype == "text/html"
    loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"', response.text)
    assert loaded
    for address in loaded:
        assert address.startswith("/docs/assets/")
        assert client.get(address).status_code == 200
    assert "<style" not in response.text
    assert not re.search(r"<script>|\son\w+=", response.text)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_allows_no_foreign_script(client: FlaskClient, path: str) -> None:
    policy = client.get(path).headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    scripts = re.findall(r"script-src ([^;]+)", policy)
    assert scripts == (["'self'"] if path == "/docs" else [])


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_a_language_a_title_one_heading_and_a_way_past_the_bar(client: FlaskClient, path: str) -> None:
    page = client.get(path).text
    assert '<html lang="en">' in page
    assert re.search(r"<title>\S.* · Touchledger</title>", page)
    assert len(re.findall(r"<h1", page)) == (0 if path == "/docs" else 1)
    assert 'class="skip" href="#content"' in page


def test_links_between_pages_lead_somewhere(client: FlaskClient) -> None:
    for path in PAGES:
        for address in set(re.findall(r'<a[^>]+href="(/[^"#]*)', client.get(path).text)):
            assert client.get(address).status_code == 200, address


def test_the_link_to_dagster_says_where_alone_it_opens(client: FlaskClient) -> None:
    text = client.get("/").text
    card = text[text.index("<strong>Pipeline") :].partition("</li>")[0]
    assert "opens only on the machine that it runs on" in card


def test_the_data_page_says_how_to_make_it_until_it_is_made(client: FlaskClient, settings: Settings) -> None:
    assert "touchledger build" in client.get("/docs/data").text
    settings.data_docs.parent.mkdir(parents=True)
    settings.data_docs.write_text("<!doctype html><title>ours</title>")
    made = client.get("/docs/data")
    assert made.text == "<!doctype html><title>ours</title>"
    known = client.get("/docs/data", headers={"If-None-Match": made.headers["ETag"]})
    assert known.status_code == 304
    # a browser shows what it kept under the policy of the newest answer: another one had left the page unreadable
    assert known.headers["Content-Security-Policy"] == made.headers["Content-Security-Policy"]
    assert "script-src 'unsafe-inline'" in made.headers["Content-Security-Policy"]
    settings.data_docs.write_text("<!doctype html><title>newer</title>")
    assert client.get("/docs/data", headers={"If-None-Match": made.headers["ETag"]}).status_code == 200


def test_every_asset_is_served_with_its_type_and_no_other_file_is(client: FlaskClient) -> None:
    for name, (_, mimetype) in ASSETS.items():
        response = client.get(f"/docs/assets/{name}")
        assert (response.status_code, response.mimetype) == (200, mimetype)
        assert response.data
    for name in ("pages.py", "..%2Fpages.py", "%2e%2e/pages.py"):
        assert client.get(f"/docs/assets/{name}").status_code == 404


def test_a_page_answers_to_any_query(client: FlaskClient) -> None:
    assert client.get("/docs?utm_source=mail").status_code == 200
