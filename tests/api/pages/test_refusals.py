"""An error is a page where a person asks for one, and the envelope where a program does."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from api import db
from tests.api.oauth.walk import form_token, sign_in
from tests.factories import people
from touchledger.settings import Settings

# what Chromium and Firefox ask with
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [
        ("/sign-in/", 404, "There is no such page"),
        ("/docs/error", 404, "There is no such page"),
        ("/docs/assets/none.css", 404, "There is no such page"),
        ("/sign-out", 405, "There is no such page"),
    ],
)
def test_a_person_reads_what_is_wrong_with_an_address(client: FlaskClient, path: str, status: int, title: str) -> None:
    page = client.get(path, headers=BROWSER)
    assert (page.status_code, page.mimetype) == (status, "text/html")
    assert f"<h1>{title}</h1>" in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "Accept" in page.headers["Vary"]
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["X-Request-Id"].startswith("req_")
    assert bool(page.headers.get("Allow")) == (status == 405)
    for asked in (
        {},
        {"Accept": "*/*"},
        {"Accept": "application/json"},
        {"Accept": "application/json, text/html;q=0.9"},
    ):
        told = client.get(path, headers=asked)
        assert (told.status_code, told.get_json()["error"]["status"]) == (status, status)


@pytest.mark.timeout(20)
def test_more_wishes_than_anybody_has_are_none(client: FlaskClient) -> None:
    # spaces in them took Werkzeug a fifth of a second for as many as a header holds
    wish = "a" + "\t" * 100_000 + "=, text/html"
    assert client.get("/sign-in/", headers={"Accept": wish}).get_json()["error"]["status"] == 404
    assert client.get("/shared/none", headers={"Accept": wish}).mimetype == "text/html"


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v1/campaigns", "/api/tracking/nothing", "/logos/none.png"])
def test_the_api_answers_a_browser_in_the_envelope_too(client: FlaskClient, path: str) -> None:
    assert client.get(path, headers=BROWSER).get_json()["error"]["code"]


def test_a_form_meets_a_page_while_the_database_is_gone(client: FlaskClient, settings: Settings) -> None:
    sign_in(client, people.session_of(settings.operational_url, people.user(settings.operational_url)))
    sent = {"form_token": form_token(client.get("/invitations")), "token": "any"}
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.text("DROP TABLE user_sessions"))
    page = client.post("/invitations", data=sent, headers=BROWSER)
    assert (page.status_code, page.headers["Retry-After"]) == (503, "2")
    assert "Try again in a moment" in page.text
    assert client.post("/invitations", data=sent).get_json()["error"]["code"] == "database_unavailable"


def test_a_form_that_is_too_large_is_told_as_a_page(client: FlaskClient) -> None:
    page = client.post("/sign-in", data={"email": "x" * 2_000_000}, headers=BROWSER)
    assert (page.status_code, "larger than this page takes" in page.text) == (413, True)
