"""Signing in with a browser: the cookie, the form that only we can send, and nowhere else to go."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db, passwords
from api.models import User, UserSession
from tests.api.oauth.walk import Walker, form_token
from tests.factories import people
from tests.factories.deployments import application
from touchledger.settings import Settings

PASSWORD = "a long enough sentence"


@pytest.fixture
def ada(settings: Settings) -> User:
    made = people.user(settings.operational_url, email="ada@example.com")
    with db.transaction(settings.operational_url) as session:
        session.get_one(User, made.id).password_hash = passwords.hashed(PASSWORD)
    return made


def sign_in(client: FlaskClient, *, password: str = PASSWORD, after: str = "/invitations", **more: str) -> TestResponse:
    path = f"/sign-in?next={quote(after, safe='')}"
    sent = {"form_token": form_token(client.get(path)), "email": "Ada@Example.com", "password": password, **more}
    return client.post(path, data=sent)


def test_a_signed_in_browser_keeps_a_session_that_scripts_cannot_read(client: FlaskClient, ada: User) -> None:
    response = sign_in(client)
    assert (response.status_code, response.location) == (303, "/invitations")
    cookie = next(
        one for one in response.headers.getlist("Set-Cookie") if one.startswith("touchledger_session=tl_sess_")
    )
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    assert client.get("/sign-in?next=/invitations").location == "/invitations"


def test_over_tls_the_cookies_are_for_this_host_alone(settings: Settings, ada: User) -> None:
    client = application(settings.model_copy(update={"public_url": "https://ledger.example"})).test_client()
    page = client.get("/sign-in", base_url="https://ledger.example")
    sent = {"form_token": form_token(page), "email": "ada@example.com", "password": PASSWORD}
    response = client.post("/sign-in", data=sent, base_url="https://ledger.example")
    assert response.status_code == 303
    for cookie in (*page.headers.getlist("Set-Cookie"), *response.headers.getlist("Set-Cookie")):
        assert cookie.startswith("__Host-touchledger_")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} <= set(cookie.split("; "))


@pytest.mark.parametrize(
    "after",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/invitations\r\nSet-Cookie: a=b",
        "javascript:alert(1)",
        "/sign-in",
        "/api/v1/me",
        "/oauth/authorize?" + "x" * 8000,
        "",
    ],
)
def test_signing_in_leads_to_our_own_pages_only(client: FlaskClient, ada: User, after: str) -> None:
    assert sign_in(client, after=after).location == "/sign-in"
    assert "signed in as ada@example.com" in client.get("/sign-in", query_string={"next": after}).text


def test_signing_in_leads_on_to_consent(client: FlaskClient, ada: User) -> None:
    wanted = "/oauth/authorize?client_id=x&state=a%26b"
    assert sign_in(client, after=wanted).location == wanted


def test_a_wrong_password_and_an_unknown_address_are_told_alike(client: FlaskClient, ada: User) -> None:
    wrong = sign_in(client, password="another long sentence")
    unknown = sign_in(client, email="eve@example.com")
    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert "is not right" in wrong.text
    assert 'role="alert"' in wrong.text
    assert "touchledger_session" not in str(wrong.headers)
    assert PASSWORD not in wrong.text


def test_ten_tries_are_enough(client: FlaskClient, ada: User) -> None:
    answers = [sign_in(client, password="another long sentence") for _ in range(11)]
    assert [one.status_code for one in answers] == [401] * 10 + [429]
    assert int(answers[-1].headers["Retry-After"]) > 600


@pytest.mark.parametrize("given", ["", "x", "x.y", "é.é"])
def test_a_form_from_elsewhere_signs_nobody_in_or_out(client: FlaskClient, ada: User, given: str) -> None:
    sent = {"email": "ada@example.com", "password": PASSWORD, "form_token": given}
    assert client.post("/sign-in", data=sent).status_code == 403
    assert sign_in(client).status_code == 303
    assert client.post("/sign-out", data={"form_token": given}).status_code == 403
    assert "You are signed in" in client.get("/sign-in").text


def test_a_browser_that_keeps_no_cookies_is_told_that_the_form_needs_one(client: FlaskClient, ada: User) -> None:
    sent = {"email": "ada@example.com", "password": PASSWORD, "form_token": form_token(client.get("/sign-in"))}
    client.delete_cookie("touchledger_visitor")
    page = client.post("/sign-in", data=sent)
    assert (page.status_code, "allow cookies for this site" in page.text) == (403, True)


def test_a_form_token_of_another_browser_is_refused(client: FlaskClient, ada: User) -> None:
    stolen = form_token(client.application.test_client().get("/sign-in"))
    client.get("/sign-in")
    sent = {"email": "ada@example.com", "password": PASSWORD, "form_token": stolen}
    assert client.post("/sign-in", data=sent).status_code == 403


def test_who_came_for_nothing_else_sees_that_it_worked_and_can_sign_out(client: FlaskClient, ada: User) -> None:
    page = client.get(sign_in(client, after="").location)
    assert "signed in as ada@example.com" in page.text
    out = client.post("/sign-out", data={"form_token": form_token(page)})
    assert out.location == "/sign-in"
    assert "Password" in client.get(out.location).text


def test_signing_out_ends_the_session_itself(client: FlaskClient, ada: User, settings: Settings) -> None:
    sign_in(client)
    cookie = client.get_cookie("touchledger_session")
    assert cookie is not None
    walker = Walker(client)
    walker.register()
    response = client.post("/sign-out?next=/invitations", data={"form_token": form_token(walker.ask())})
    assert response.location == "/sign-in?next=%2Finvitations"
    client.set_cookie("touchledger_session", cookie.value)
    assert "You are signed in" not in client.get("/sign-in").text
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(UserSession)).one().revoked_at is not None


def test_an_idle_session_is_over(client: FlaskClient, ada: User) -> None:
    with time_machine.travel(db.now(), tick=False) as clock:
        sign_in(client)
        clock.shift(timedelta(days=7))
        assert "You are signed in" not in client.get("/sign-in").text


@pytest.mark.parametrize("path", ["/sign-in", "/oauth/authorize"])
def test_pages_with_decisions_cannot_be_framed_or_kept(client: FlaskClient, path: str) -> None:
    headers = client.get(path).headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "script-src" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_what_was_typed_comes_back_as_text(client: FlaskClient, ada: User) -> None:
    page = sign_in(client, email='"><script>alert(1)</script>')
    assert page.status_code == 401
    assert "<script" not in page.text
