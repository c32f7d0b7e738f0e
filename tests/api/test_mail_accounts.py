"""Mail leaves encrypted and under its account; where a server takes neither, the message says so and waits."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult
from pydantic import SecretStr

from api import mail_delivery
from tests.api.test_mail import make_due, put, rows, sending_to
from tests.factories.mailbox import certificate, mail_server
from touchledger.settings import Settings


@pytest.fixture
def guarded(home: Path, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings for a server that takes mail only encrypted, and from `ada` with the password `right`."""
    identity, known = certificate(tmp_path), (b"ada", b"right")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(identity)
    monkeypatch.setenv("SSL_CERT_FILE", str(identity))
    asked = {"tls_context": tls, "require_starttls": True, "auth_required": True, "auth_exclude_mechanism": ["LOGIN"]}

    def judged(*given: Any) -> AuthResult:
        return AuthResult(success=(given[-1].login, given[-1].password) == known, handled=False)

    with mail_server(**asked, authenticator=judged) as mailbox:
        account = {"smtp_host": "localhost", "smtp_username": "ada", "smtp_password": SecretStr("right")}
        yield sending_to(mailbox.port, home).model_copy(update={**account, "smtp_starttls": "on"})


def test_mail_leaves_encrypted_and_under_the_account(guarded: Settings) -> None:
    put(guarded)
    assert mail_delivery.deliver(guarded) == 1
    assert rows(guarded)[0].status == "sent"


def test_mail_leaves_by_a_server_that_speaks_tls_from_the_first_byte(
    home: Path, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Port 465 of most providers: their greeting was waited for in plain text, and no mail left."""
    identity = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(identity))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(identity)
    with mail_server(ssl_context=tls) as mailbox:
        named = {"smtp_host": "localhost", "smtp_starttls": "implicit"}
        settings = sending_to(mailbox.port, home).model_copy(update=named)
        put(settings)
        assert mail_delivery.deliver(settings) == 1
        # a name that its certificate does not have
        put(settings)
        assert mail_delivery.deliver(settings.model_copy(update={"smtp_host": "127.0.0.1"})) == 0


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"smtp_password": SecretStr("wrong")}, "SMTPAuthenticationError"),
        # neither can be spelt to the server, and both had left the message without a word
        ({"smtp_password": SecretStr("pässwort")}, "Unicode"),
        ({"smtp_host": "mail..example.com"}, "Unicode"),
    ],
)
def test_an_account_that_a_server_does_not_take_is_told_and_tried_again(
    guarded: Settings, changed: dict[str, Any], problem: str
) -> None:
    put(guarded)
    assert mail_delivery.deliver(guarded.model_copy(update=changed)) == 0
    (row,) = rows(guarded)
    assert (row.status, row.attempts) == ("queued", 1)
    # which error of its kind it is depends on Python's version
    assert (row.note or "").startswith(f"The mail server cannot be used: {problem}")


def test_a_sender_that_is_refused_ends_no_message_for_it_is_the_operators_to_mend(home: Path, sqlite_url: str) -> None:
    """An address that the provider had not confirmed yet: every mail of that minute was lost for good."""
    with mail_server() as mailbox:
        settings = sending_to(mailbox.port, home)
        mailbox.at_sender = ["550 not a confirmed sender"]
        put(settings)
        assert mail_delivery.deliver(settings) == 0
        (row,) = rows(settings)
        assert (row.status, row.note, row.attempts) == ("queued", "The sender was refused with 550.", 1)
        make_due(settings)
        assert mail_delivery.deliver(settings) == 1
