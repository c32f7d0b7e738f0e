"""Making an account with a browser, which is how most people who are invited begin."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db
from api.models import User, UserSession
from tests.api.oauth.walk import form_token
from touchledger.settings import Settings

PASSWORD = "a long enough sentence"


def sign_up(client: FlaskClient, **changed: str) -> TestResponse:
    path = "/sign-up?next=/invitations"
    sent = {"form_token": form_token(client.get(path)), "email": "New@Example.com", "password": PASSWORD, **changed}
    return client.post(path, data=sent)


def test_a_new_person_is_signed_in_and_led_on(client: FlaskClient, settings: Settings) -> None:
    response = sign_up(client, first_name="Nora", last_name="")
    assert (response.status_code, response.location) == (303, "/invitations")
    assert "gives new@example.com a place" in client.get("/invitations").text
    with db.transaction(settings.operational_url) as session:
        made = session.scalars(sa.select(User)).one()
    assert (made.email, made.first_name, made.last_name, made.email_verified_at) == (
        "new@example.com", "Nora", None, None,
    )  # fmt: skip
    assert str(made.password_hash).startswith("$argon2id$")


def test_a_browser_has_one_session(client: FlaskClient, settings: Settings) -> None:
    """The one of before stayed open for a week, in no browser."""
    sign_up(client)
    sign_up(client, email="other@example.com")
    chosen = sa.select(User.email).join(UserSession, UserSession.user_id == User.id)
    with db.transaction(settings.operational_url) as session:
        ended = session.scalars(chosen.where(UserSession.revoked_at.is_not(None))).all()
        live = session.scalars(chosen.where(UserSession.revoked_at.is_(None))).all()
    assert (ended, live) == (["new@example.com"], ["other@example.com"])
    assert "signed in as other@example.com" in client.get("/sign-in").text


@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({"password": "too short"}, 422, "needs 15 to 256 characters"),
        ({"password": "passwordpasswordpassword"}, 422, "known from breaches"),
        ({"email": "nobody"}, 422, "Check the e-mail address"),
        ({"first_name": "x" * 81}, 422, "Check the e-mail address and the names"),
        ({"password": ""}, 422, "Check"),
    ],
)
def test_what_does_not_do_is_said(
    client: FlaskClient, settings: Settings, changed: dict[str, str], status: int, said: str
) -> None:
    page = sign_up(client, **changed)
    assert page.status_code == status
    assert said in page.text
    assert PASSWORD not in page.text
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(User)).all() == []


def test_a_form_that_is_sent_with_two_clicks_signs_in_whoever_it_made(client: FlaskClient, settings: Settings) -> None:
    sent = {"form_token": form_token(client.get("/sign-up")), "email": "new@example.com", "password": PASSWORD}
    # the browser gives up the first answer, with its cookie, once the second click is sent
    client.post("/sign-up", data=sent)
    client.delete_cookie("touchledger_session")
    assert client.post("/sign-up?next=/invitations", data=sent).location == "/invitations"
    assert "gives new@example.com a place" in client.get("/invitations").text


def test_a_known_address_is_refused_and_signs_nobody_in(client: FlaskClient) -> None:
    sign_up(client)
    other = client.application.test_client()
    page = sign_up(other, password="another long sentence")
    assert page.status_code == 409
    assert "Sign in instead" in page.text
    assert "touchledger_session" not in str(page.headers)


def test_ten_accounts_an_hour_are_enough(client: FlaskClient) -> None:
    answers = [sign_up(client, password=f"short but tried {n}") for n in range(10)]
    assert {one.status_code for one in answers} == {303, 409}
    last = sign_up(client)
    assert last.status_code == 429
    assert int(last.headers["Retry-After"]) > 3000


def test_a_form_from_elsewhere_makes_nobody(client: FlaskClient, settings: Settings) -> None:
    assert client.post("/sign-up", data={"email": "new@example.com", "password": PASSWORD}).status_code == 403
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(User)).all() == []
