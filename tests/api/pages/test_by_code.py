"""Setting a password and confirming an address in a browser, with the code that was mailed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api import db, passwords
from api.models import OneTimeToken, OutgoingMail, User, UserSession
from tests.api.oauth.walk import form_token
from tests.factories import people
from tests.factories.deployments import application
from touchledger.settings import Settings

OLD, NEW = "a long walk by the sea", "another long password"


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    """A deployment that has a mail server; nothing is sent, since no worker runs."""
    return application(settings.model_copy(update={"smtp_host": "127.0.0.1"})).test_client()


@pytest.fixture
def ada(settings: Settings) -> User:
    made = people.user(settings.operational_url, email="ada@example.com")
    people.session_of(settings.operational_url, made)
    with db.transaction(settings.operational_url) as session:
        user = session.get_one(User, made.id)
        user.password_hash, user.email_verified_at = passwords.hashed(OLD), None
    return made


def typed(client: FlaskClient, path: str, **fields: str) -> TestResponse:
    return client.post(path, data={"form_token": form_token(client.get(path)), **fields})


def mailed_code(url: str, kind: str, path: str) -> str:
    with db.transaction(url) as session:
        letter = session.scalars(sa.select(OutgoingMail).where(OutgoingMail.kind == kind)).all()[-1].text or ""
    assert path in letter
    found = re.search(r"^tl_rst_[0-9A-Za-z]{38}$", letter, re.MULTILINE)
    assert found
    return found.group()


def test_a_forgotten_password_is_set_anew_and_every_session_ends(
    client: FlaskClient, settings: Settings, ada: User
) -> None:
    asked = typed(client, "/reset-password", email="Ada@Example.com")
    assert (asked.status_code, asked.location) == (303, "/reset-password/code")
    code = mailed_code(settings.operational_url, "password_reset", "/reset-password/code")
    done = typed(client, "/reset-password/code", token=f" {code} ", new_password=NEW)
    assert done.status_code == 200
    assert "The password is set" in done.text
    with db.transaction(settings.operational_url) as session:
        assert passwords.is_right(session.get_one(User, ada.id).password_hash, NEW)
        assert all(row.revoked_at for row in session.scalars(sa.select(UserSession)))
    # of two clicks the browser shows the answer to the second alone
    again = typed(client, "/reset-password/code", token=code, new_password=NEW)
    assert (again.status_code, "The password is set" in again.text) == (200, True)
    other = typed(client, "/reset-password/code", token=code, new_password=OLD)
    assert (other.status_code, "This code opens nothing" in other.text) == (422, True)
    with time_machine.travel(db.now() + timedelta(minutes=1)):
        later = typed(client, "/reset-password/code", token=code, new_password=NEW)
    assert (later.status_code, "This code opens nothing" in later.text) == (422, True)


def test_without_a_mail_server_no_code_is_promised(settings: Settings, ada: User) -> None:
    quiet = application(settings).test_client()
    page = quiet.get("/reset-password")
    assert "sends no mail" in page.text
    assert "<form" not in page.text
    sent = {"form_token": form_token(quiet.get("/sign-in")), "email": "ada@example.com"}
    assert "sends no mail" in quiet.post("/reset-password", data=sent).text


def test_nobody_learns_whether_an_address_has_an_account(client: FlaskClient, settings: Settings, ada: User) -> None:
    known = typed(client, "/reset-password", email="ada@example.com")
    unknown = typed(client, "/reset-password", email="eve@example.com")
    assert (known.status_code, known.location, known.data) == (unknown.status_code, unknown.location, unknown.data)
    with db.transaction(settings.operational_url) as session:
        assert [row.to_address for row in session.scalars(sa.select(OutgoingMail))] == ["ada@example.com"]


def test_a_password_that_does_not_fit_leaves_the_code_unused(
    client: FlaskClient, settings: Settings, ada: User
) -> None:
    typed(client, "/reset-password", email="ada@example.com")
    code = mailed_code(settings.operational_url, "password_reset", "/reset-password/code")
    weak = typed(client, "/reset-password/code", token=code, new_password="short")
    assert (weak.status_code, "needs 15 to 256 characters" in weak.text) == (422, True)
    assert code in weak.text
    assert "short" not in weak.text
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(OneTimeToken)).one().used_at is None


def test_an_address_is_confirmed_with_its_code(client: FlaskClient, settings: Settings) -> None:
    joined = typed(client, "/sign-up", email="new@example.com", password=NEW)
    assert joined.status_code == 303
    code = mailed_code(settings.operational_url, "email_verification", "/confirm-address")
    for _ in range(2):
        done = typed(client, "/confirm-address", token=code)
        assert (done.status_code, "The address is confirmed" in done.text) == (200, True)
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(User)).one().email_verified_at is not None


@pytest.mark.parametrize("path", ["/reset-password", "/reset-password/code", "/confirm-address"])
def test_a_form_from_elsewhere_does_nothing(client: FlaskClient, settings: Settings, ada: User, path: str) -> None:
    fields = {"email": "ada@example.com", "token": "tl_rst_x", "new_password": NEW, "form_token": "made.up"}
    assert client.post(path, data=fields).status_code == 403
    with db.transaction(settings.operational_url) as session:
        assert session.scalars(sa.select(OutgoingMail)).all() == []


@pytest.mark.parametrize(
    ("path", "fields", "at"),
    [
        ("/reset-password", {"email": "nobody"}, "email"),
        ("/reset-password/code", {"token": "x" * 201, "new_password": NEW}, "token"),
        ("/reset-password/code", {"token": "x", "new_password": NEW + "\0"}, "new_password"),
        ("/confirm-address", {}, "token"),
    ],
)
def test_what_cannot_be_is_asked_for_again_where_it_was_typed(
    client: FlaskClient, path: str, fields: dict[str, str], at: str
) -> None:
    again = typed(client, path, **fields)
    assert (again.status_code, "Check what you typed." in again.text) == (422, True)
    (field,) = (one for one in re.findall(r"<input[^>]*>", again.text) if "autofocus" in one)
    assert f'name="{at}"' in field


def test_asking_too_often_is_told_with_the_time_to_wait(client: FlaskClient, ada: User) -> None:
    answers = [typed(client, "/reset-password", email="ada@example.com") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [303] * 5 + [429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert "tried too often" in answers[-1].text
