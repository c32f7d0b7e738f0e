"""The mail of an invitation, as it arrives at a mail server, and what only its reader can prove."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db, mail_delivery
from api.models import OutgoingMail, Profile, User, Workspace
from tests.api.v1.members.conftest import Ask, asker, data, refusal
from tests.factories import accounts, people
from tests.factories.deployments import application
from tests.factories.mailbox import Mailbox, mail_server
from touchledger.settings import Settings

SAID = {"en": "<b>Olga</b> invites you to Shop & Sons", "es": "<b>Olga</b> te invita a Shop & Sons"}


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as found:
        yield found


@pytest.fixture
def mailing(sqlite_url: str, home: Path, mailbox: Mailbox) -> Settings:
    """A deployment that sends mail."""
    assert sqlite_url
    return Settings(
        home=home, smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_starttls="off", smtp_from="tl@example.com"
    )


@pytest.fixture
def ask(mailing: Settings) -> Ask:
    return asker(application(mailing).test_client())


@pytest.fixture
def shop(mailing: Settings) -> Profile:
    return accounts.profile(mailing.operational_url)


@pytest.fixture
def olga(mailing: Settings, shop: Profile) -> User:
    made = people.user(mailing.operational_url, name="<b>Olga</b>")
    people.member(mailing.operational_url, made, shop.workspace_id)
    return made


def invite(ask: Ask, settings: Settings, shop: Profile, by: User) -> str:
    """The accept_url that the inviter is shown; the mail is delivered."""
    body = {"email": "vera@example.com", "role": "viewer", "message": "Come\nin <now>"}
    session = people.session_of(settings.operational_url, by)
    made = data(ask("POST", f"/workspaces/{shop.workspace_id}/invitations", session, body), 201)
    assert made["email_status"] == "queued"
    assert mail_delivery.deliver(settings) == 1
    return str(made["accept_url"])


def part(message: EmailMessage, kind: str) -> str:
    return str(message.get_body((kind,)).get_content()).replace("\r\n", "\n")  # type: ignore[union-attr]


def link_in(message: EmailMessage, shown: str) -> str:
    found = re.search(re.escape(shown) + r"\.[0-9a-f]{64}\b", part(message, "plain"))
    assert found is not None
    return found[0]


@pytest.mark.parametrize("locale", ["en", "es"])
def test_an_invitation_arrives_in_the_language_of_its_sender(
    ask: Ask, mailing: Settings, mailbox: Mailbox, shop: Profile, olga: User, locale: str
) -> None:
    with db.transaction(mailing.operational_url) as session:
        session.get_one(User, olga.id).locale = locale
        session.get_one(Workspace, shop.workspace_id).name = "Shop & Sons"
    shown = invite(ask, mailing, shop, olga)
    (message,) = mailbox.arrived
    assert (message["To"], message["Subject"]) == ("vera@example.com", SAID[locale])
    text, html = part(message, "plain"), part(message, "html")
    assert "“Come\nin <now>”" in text
    assert f'href="{link_in(message, shown)}"' in html
    # without its language a screen reader speaks Spanish as if it were English
    assert re.search(r"<html lang=\"(..)\">", html)[1] == locale  # type: ignore[index]
    assert "&lt;b&gt;Olga&lt;/b&gt;" in html
    assert "Come<br>in &lt;now&gt;" in html


def test_names_stay_on_their_line_and_turn_nothing(
    ask: Ask, mailing: Settings, mailbox: Mailbox, shop: Profile, olga: User
) -> None:
    with db.transaction(mailing.operational_url) as session:
        session.get_one(User, olga.id).first_name = "Olga\u202e"
        session.get_one(
            Workspace, shop.workspace_id
        ).name = "Shop\u2069\u202e.\r\n\nOpen the invitation: https://evil.example"
    invite(ask, mailing, shop, olga)
    (message,) = mailbox.arrived
    where = "Shop. Open the invitation: https://evil.example"
    assert message["Subject"] == f"Olga invites you to {where}"
    for kind in ("plain", "html"):
        assert f"Olga invites you to work with {where} on Touchledger." in part(message, kind)


@pytest.mark.parametrize("held", ["shown", "guessed", "mailed"])
def test_only_the_mailed_link_proves_the_address(
    ask: Ask, mailing: Settings, mailbox: Mailbox, shop: Profile, olga: User, held: str
) -> None:
    vera = people.user(mailing.operational_url, email="vera@example.com", verified=False)
    shown = invite(ask, mailing, shop, olga)
    link = {"shown": shown, "guessed": f"{shown}.{'0' * 64}", "mailed": link_in(mailbox.arrived[0], shown)}[held]
    accept = {"token": link.partition("#")[2]}
    # whoever invites is shown the link too, so that it can be handed over without mail
    session = people.session_of(mailing.operational_url, vera)
    assert data(ask("POST", "/invitations/accept", session, accept))["role"] == "viewer"
    assert data(ask("GET", "/me", session))["email_verified"] is (held == "mailed")


def test_an_invitation_taken_back_before_its_mail_left_writes_to_nobody(
    ask: Ask, mailing: Settings, mailbox: Mailbox, shop: Profile, olga: User
) -> None:
    session, place = people.session_of(mailing.operational_url, olga), f"/workspaces/{shop.workspace_id}/invitations"
    vera, otto = ({"email": f"{name}@example.com", "role": "viewer"} for name in ("vera", "otto"))
    made = data(ask("POST", place, session, vera), 201)
    data(ask("POST", place, session, otto), 201)
    data(ask("DELETE", f"{place}/{made['invitation_id']}", session))
    assert [mail_delivery.deliver(mailing), mail_delivery.deliver(mailing)] == [1, 0]
    assert mailbox.recipients == ["otto@example.com"]
    with db.transaction(mailing.operational_url) as reading:
        kept = reading.scalars(sa.select(OutgoingMail).where(OutgoingMail.to_address == "vera@example.com")).one()
    assert (kept.status, kept.note, kept.text) == ("failed", mail_delivery.OVER, None)


def test_a_person_sends_thirty_an_hour_also_when_each_is_taken_back(
    ask: Ask, mailing: Settings, shop: Profile, olga: User
) -> None:
    url, session = mailing.operational_url, people.session_of(mailing.operational_url, olga)
    other = accounts.profile(url)
    people.member(url, olga, other.workspace_id)
    for number in range(30):
        place = f"/workspaces/{(shop, other)[number % 2].workspace_id}/invitations"
        made = data(ask("POST", place, session, {"email": f"p{number}@example.com", "role": "viewer"}), 201)
        data(ask("DELETE", f"{place}/{made['invitation_id']}", session))
    last = ask("POST", place, session, {"email": "last@example.com", "role": "viewer"})
    assert refusal(last) == (429, "rate_limit_exceeded", "request_rate")
    assert int(last.headers["Retry-After"]) > 3000
    with db.transaction(url) as reading:
        sent = reading.scalars(sa.select(OutgoingMail.to_address)).all()
    assert len(sent) == 30
    assert "last@example.com" not in sent
