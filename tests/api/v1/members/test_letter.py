"""The mail of an invitation, as it arrives at a mail server."""

from __future__ import annotations

from pathlib import Path

import pytest

from api import db, mail_delivery
from api.models import User, Workspace
from tests.api.v1.members.conftest import asker, data
from tests.factories import accounts, people
from tests.factories.deployments import application
from tests.factories.mailbox import mail_server
from touchledger.settings import Settings

SAID = {"en": "<b>Olga</b> invites you to Shop & Sons", "es": "<b>Olga</b> te invita a Shop & Sons"}


@pytest.mark.usefixtures("sqlite_url")
@pytest.mark.parametrize("locale", ["en", "es"])
def test_an_invitation_arrives_in_the_language_of_its_sender(home: Path, locale: str) -> None:
    with mail_server() as mailbox:
        settings = Settings(
            home=home, smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_starttls="off", smtp_from="tl@example.com"
        )
        url, profile = settings.operational_url, accounts.profile(settings.operational_url)
        owner = people.user(url, name="<b>Olga</b>")
        people.member(url, owner, profile.workspace_id)
        with db.transaction(url) as session:
            session.get_one(User, owner.id).locale = locale
            session.get_one(Workspace, profile.workspace_id).name = "Shop & Sons"
        ask = asker(application(settings).test_client())
        body = {"email": "vera@example.com", "role": "viewer", "message": "Come\nin <now>"}
        path = f"/workspaces/{profile.workspace_id}/invitations"
        made = data(ask("POST", path, people.session_of(url, owner), body), 201)
        assert made["email_status"] == "queued"
        assert mail_delivery.deliver(settings) == 1
    (message,) = mailbox.arrived
    assert (message["To"], message["Subject"]) == ("vera@example.com", SAID[locale])
    text = message.get_body(("plain",)).get_content().replace("\r\n", "\n")  # type: ignore[union-attr]
    html = message.get_body(("html",)).get_content()  # type: ignore[union-attr]
    assert made["accept_url"] in text
    assert "“Come\nin <now>”" in text
    assert f'href="{made["accept_url"]}"' in html
    assert "&lt;b&gt;Olga&lt;/b&gt;" in html
    assert "Come<br>in &lt;now&gt;" in html
