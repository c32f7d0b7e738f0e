"""What a mailed code opens: a confirmed address, a new password."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine
from flask.testing import FlaskClient

from api import db, mail_delivery
from api.models import App, AuditEntry, OneTimeToken, OutgoingMail, Profile, User
from tests.api.conftest import Caller
from tests.api.oauth.walk import BACK, Walker, sign_in
from tests.api.v1.credentials.conftest import data, refusal
from tests.factories import people
from tests.factories.deployments import application
from tests.factories.mailbox import mail_server
from touchledger.settings import Settings

OLD, NEW = "a long walk by the sea", "another long password"
ADA = {"email": "ada@example.com", "password": OLD}
UNKNOWN = (404, "not_found", None)


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    """A deployment that has a mail server; nothing is sent, since no worker runs."""
    return application(settings.model_copy(update={"smtp_host": "127.0.0.1"})).test_client()


@pytest.fixture
def ada(anonymous: Caller, client: FlaskClient) -> Caller:
    """Somebody who signed up, in their first session."""
    made = data(anonymous.post("/auth/sign-up", json=ADA), 201)
    return Caller(client, made["session"]["token"])


def letters(url: str, kind: str) -> list[OutgoingMail]:
    with db.transaction(url) as session:
        return list(session.scalars(sa.select(OutgoingMail).where(OutgoingMail.kind == kind).order_by(OutgoingMail.id)))


def code_of(letter: OutgoingMail) -> str:
    found = re.search(r"^tl_rst_[0-9A-Za-z]{38}$", letter.text or "", re.MULTILINE)
    assert found
    return found.group()


def asked(anonymous: Caller, url: str) -> str:
    assert data(anonymous.post("/auth/password-reset", json={"email": "Ada@example.com"}), 202) == {}
    return code_of(letters(url, "password_reset")[-1])


def test_the_mail_of_a_sign_up_confirms_the_address_once(ada: Caller, anonymous: Caller, url: str) -> None:
    (letter,) = letters(url, "email_verification")
    assert letter.to_address == "ada@example.com"
    assert data(ada.get("/me"))["email_verified"] is False
    code = {"token": code_of(letter)}
    assert data(anonymous.post("/auth/verify-email", json=code)) == {"email_verified": True}
    assert data(ada.get("/me"))["email_verified"] is True
    assert refusal(anonymous.post("/auth/verify-email", json=code)) == UNKNOWN
    with db.transaction(url) as session:
        assert code["token"] not in {row.digest for row in session.scalars(sa.select(OneTimeToken))}


def test_a_reset_sets_the_password_and_ends_all_sessions(ada: Caller, anonymous: Caller, url: str) -> None:
    code = {"token": asked(anonymous, url)}
    assert "changed_at" in data(anonymous.post("/auth/password-reset/confirm", json={**code, "new_password": NEW}))
    assert ada.get("/me").status_code == 401
    assert anonymous.post("/auth/sign-in", json=ADA).status_code == 401
    assert data(anonymous.post("/auth/sign-in", json={**ADA, "password": NEW}), 201)["user"]["email_verified"] is True
    again = anonymous.post("/auth/password-reset/confirm", json={**code, "new_password": OLD})
    assert refusal(again) == UNKNOWN
    with db.transaction(url) as session:
        entry = session.scalars(sa.select(AuditEntry)).one()
    assert (entry.action, entry.details) == ("password.reset", {"sessions_ended": 1})


@pytest.mark.parametrize(("late", "arriving"), [(timedelta(minutes=30), 1), (timedelta(minutes=61), 0)])
def test_of_letters_that_wait_only_the_newest_code_is_sent_and_no_spent_or_old_one(
    ada: Caller, anonymous: Caller, url: str, settings: Settings, late: timedelta, arriving: int
) -> None:
    (first,) = letters(url, "email_verification")
    data(anonymous.post("/auth/verify-email", json={"token": code_of(first)}))
    codes = [asked(anonymous, url), asked(anonymous, url)]
    with mail_server() as mailbox, time_machine.travel(db.now() + late):
        mailing = settings.model_copy(update={"smtp_host": "127.0.0.1", "smtp_port": mailbox.port})
        sent = mail_delivery.deliver(mailing.model_copy(update={"smtp_starttls": "off"}))
    assert (sent, [code in str(one) for one in mailbox.arrived for code in codes]) == (
        arriving,
        [False, True][: 2 * sent],
    )
    assert {one.text for kind in ("email_verification", "password_reset") for one in letters(url, kind)} == {None}


@pytest.mark.parametrize("proven", [False, True])
def test_the_first_proof_of_an_address_ends_what_was_let_in_before_it(
    ada: Caller, anonymous: Caller, client: FlaskClient, url: str, profile: Profile, *, proven: bool
) -> None:
    if proven:
        letter = letters(url, "email_verification")[0]
        data(anonymous.post("/auth/verify-email", json={"token": code_of(letter)}))
    with db.transaction(url) as session:
        user = session.scalars(sa.select(User)).one()
    people.member(url, user, profile.workspace_id)
    token = data(ada.post("/me/mcp-tokens", json={"name": "a"}), 201)["token"]
    sign_in(client, ada.secret or "")
    agent = Walker(client)
    agent.register()
    held = agent.exchange(agent.code()).get_json()
    registered = people.app(url)
    with db.transaction(url) as session:
        session.get_one(App, registered.app.id).redirect_uris = [BACK]
    app = Walker(client, registered.app.client_id or "", auth={"Authorization": registered.header})
    key = app.exchange(app.code(asked={"scope": "analytics"}, profile_id=profile.id), client_id=None).get_json()
    code = {"token": asked(anonymous, url), "new_password": NEW}
    data(anonymous.post("/auth/password-reset/confirm", json=code))
    answers = [app.campaigns(one, profile.id) for one in (token, held["access_token"], key["access_token"])]
    answers.append(agent.refresh(held["refresh_token"]).status_code)
    assert answers == ([200] * 4 if proven else [401, 401, 401, 400])


def test_an_unfit_password_does_not_spend_the_code(ada: Caller, anonymous: Caller, url: str) -> None:
    code = {"token": asked(anonymous, url)}
    for unfit, name in (("short", "weak_password"), ("telecommunications", "compromised_password")):
        refused = anonymous.post("/auth/password-reset/confirm", json={**code, "new_password": unfit})
        assert refusal(refused) == (422, name, None)
    data(anonymous.post("/auth/password-reset/confirm", json={**code, "new_password": NEW}))


@pytest.mark.usefixtures("ada")
def test_an_unknown_address_gets_the_same_answer_and_no_mail(anonymous: Caller, url: str) -> None:
    known = anonymous.post("/auth/password-reset", json={"email": "ada@example.com"})
    unknown = anonymous.post("/auth/password-reset", json={"email": "nobody@example.com"})
    assert (
        (known.status_code, known.get_json())
        == (unknown.status_code, unknown.get_json())
        == (
            202,
            {"data": {}, "meta": {}},
        )
    )
    assert [letter.to_address for letter in letters(url, "password_reset")] == ["ada@example.com"]


@pytest.mark.usefixtures("ada")
def test_a_code_is_good_for_an_hour_and_ends_with_the_next(anonymous: Caller, url: str) -> None:
    start = db.now()

    def confirm(token: str) -> Any:
        return anonymous.post("/auth/password-reset/confirm", json={"token": token, "new_password": NEW})

    with time_machine.travel(start, tick=False) as clock:
        first, second = asked(anonymous, url), asked(anonymous, url)
        assert refusal(confirm(first)) == UNKNOWN
        clock.move_to(start + timedelta(hours=1))
        assert refusal(confirm(second)) == UNKNOWN
        third = asked(anonymous, url)
        clock.move_to(start + timedelta(hours=1, minutes=59, seconds=59))
        assert confirm(third).status_code == 200
        asked(anonymous, url)
        clock.move_to(start + timedelta(hours=4))
        asked(anonymous, url)
    with db.transaction(url) as session:
        kept = session.scalars(sa.select(OneTimeToken.kind)).all()
    assert kept == ["password_reset"]


def test_a_code_serves_its_own_purpose_only(ada: Caller, anonymous: Caller, url: str) -> None:
    verification = code_of(letters(url, "email_verification")[0])
    reset = asked(anonymous, url)
    wrong = anonymous.post("/auth/password-reset/confirm", json={"token": verification, "new_password": NEW})
    assert refusal(wrong) == UNKNOWN
    assert refusal(anonymous.post("/auth/verify-email", json={"token": reset})) == UNKNOWN
    assert refusal(anonymous.post("/auth/verify-email", json={"token": "x"})) == UNKNOWN


def test_a_changed_password_ends_the_codes_on_their_way(ada: Caller, anonymous: Caller, url: str) -> None:
    code = asked(anonymous, url)
    data(ada.post("/auth/password", json={"current_password": OLD, "new_password": NEW}))
    late = anonymous.post("/auth/password-reset/confirm", json={"token": code, "new_password": "one more password"})
    assert refusal(late) == UNKNOWN


@pytest.mark.usefixtures("ada")
def test_an_unknown_address_takes_the_same_work(anonymous: Caller, url: str) -> None:
    # the letter was written for people alone, and the answer took half as long again
    done: list[str] = []
    sa.event.listen(db.engine_for(url), "before_cursor_execute", lambda *of: done.append(" ".join(of[2].split()[:3])))
    work = {}
    for email in ("ada@example.com", "nobody@example.com"):
        done.clear()
        assert anonymous.post("/auth/password-reset", json={"email": email}).status_code == 202
        # kept or taken back
        work[email] = [one for one in done if not one.startswith(("RELEASE", "ROLLBACK"))]
    assert work["ada@example.com"] == work["nobody@example.com"]
    assert "INSERT INTO outgoing_mail" in " ".join(done)


@pytest.mark.usefixtures("ada")
def test_an_address_is_written_to_five_times_an_hour(anonymous: Caller, url: str) -> None:
    for _ in range(5):
        asked(anonymous, url)
    refused = anonymous.post("/auth/password-reset", json={"email": "ada@example.com"})
    assert refusal(refused) == (429, "rate_limit_exceeded", "sign_in_attempts")
    assert len(letters(url, "password_reset")) == 5


def test_letters_are_in_the_persons_language(ada: Caller, anonymous: Caller, url: str) -> None:
    data(ada("PATCH", "/me", json={"locale": "es"}))
    asked(anonymous, url)
    (letter,) = letters(url, "password_reset")
    assert letter.subject == "Establecer una contraseña nueva"
    assert "ada@example.com" in (letter.text or "")


def test_without_a_mail_server_nothing_is_written(settings: Settings, url: str) -> None:
    bare = Caller(application(settings).test_client(), None)
    data(bare.post("/auth/sign-up", json=ADA), 201)
    assert data(bare.post("/auth/password-reset", json={"email": "ada@example.com"}), 202) == {}
    with db.transaction(url) as session:
        assert session.scalars(sa.select(OutgoingMail)).all() == []
