"""Mail is queued with its cause, sent by the worker to a real server, retried, and never silently sent twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from api import db, errors, mail, mail_delivery
from api.models import OutgoingMail, Workspace
from tests.factories.mailbox import Mailbox, mail_server
from tests.fixtures.waiting import wait_until
from touchledger.settings import Settings


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as started:
        yield started


def sending_to(port: int, home: Path, url: str | None = None) -> Settings:
    more = {"database_url": url} if url else {}
    sender = "Touchledger <reports@example.com>"
    return Settings(home=home, smtp_host="127.0.0.1", smtp_port=port, smtp_starttls="off", smtp_from=sender, **more)  # type: ignore[arg-type]


@pytest.fixture
def posting(mailbox: Mailbox, home: Path, sqlite_url: str) -> Settings:
    return sending_to(mailbox.port, home)


def put(settings: Settings, to: str = "ada@example.com", subject: str = "Hello", text: str = "Come in") -> str:
    with db.transaction(settings.operational_url) as session:
        return mail.queue(
            session, workspace_id=None, to=to, kind="test", subject=subject, text=text, html="<p>Come in</p>",
            settings=settings,
        )  # fmt: skip


def rows(settings: Settings) -> list[OutgoingMail]:
    with db.transaction(settings.operational_url) as session:
        return list(session.scalars(sa.select(OutgoingMail).order_by(OutgoingMail.id)))


def make_due(settings: Settings) -> None:
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.update(OutgoingMail).values(next_attempt_at=db.now()))


def test_a_queued_message_arrives_once_and_its_text_is_forgotten(home: Path, database_url: str) -> None:
    with mail_server() as mailbox:
        settings = sending_to(mailbox.port, home, database_url)
        assert put(settings) == "queued"
        assert [mail_delivery.deliver(settings), mail_delivery.deliver(settings)] == [1, 0]
    (message,), (row,) = mailbox.arrived, rows(settings)
    assert (message["To"], message["From"]) == ("ada@example.com", "Touchledger <reports@example.com>")
    assert message["Message-ID"] == f"<{row.id}@example.com>"
    assert message.get_body(("plain",)).get_content().strip() == "Come in"  # type: ignore[union-attr]
    assert message.get_body(("html",)).get_content().strip() == "<p>Come in</p>"  # type: ignore[union-attr]
    assert (row.status, row.text, row.html) == ("sent", None, None)


def test_without_a_mail_server_nothing_is_kept(settings: Settings) -> None:
    assert put(settings) == "not_configured"
    assert rows(settings) == []


def test_people_of_a_workspace_that_an_app_provisioned_get_no_mail(posting: Settings) -> None:
    with db.transaction(posting.operational_url) as session:
        workspace = Workspace(name="W", acquisition_source="oauth")
        session.add(workspace)
        session.flush()
        with pytest.raises(errors.ApiError) as refused:
            mail.queue(
                session, workspace_id=workspace.id, to="a@example.com", kind="k", subject="s", text="t",
                settings=posting,
            )  # fmt: skip
    assert refused.value.code is errors.APP_PROVISIONED_WORKSPACE
    assert rows(posting) == []


def test_a_line_break_in_a_name_begins_no_header(posting: Settings, mailbox: Mailbox) -> None:
    put(posting, subject="Report of\r\nBcc: eve@example.com\u2028X: y")
    mail_delivery.deliver(posting)
    assert mailbox.arrived[0]["Bcc"] is None
    assert mailbox.arrived[0]["Subject"] == "Report of Bcc: eve@example.com X: y"
    assert mailbox.recipients == ["ada@example.com"]


@pytest.mark.parametrize(
    "coding", ["q?Hi=0D=0AReply-To:_eve@example.com=0D=0A=0D=0AYour_account", "b?SGkNCkJjYzogYQ0KDQpZb3Vy"]
)
def test_a_name_that_looks_like_an_encoded_header_is_not_decoded(
    posting: Settings, mailbox: Mailbox, coding: str
) -> None:
    # decoded, its line breaks began headers and a text of the name's own
    name = f"=?utf-8?{coding}?="
    put(posting, subject=f"Ada invites you to {name}")
    assert mail_delivery.deliver(posting) == 1
    (message,) = mailbox.arrived
    assert message.keys()[:6] == ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"]
    assert message["Subject"] == f"Ada invites you to = ?utf-8?{coding}?="
    assert message.get_body(("plain",)).get_content().strip() == "Come in"  # type: ignore[union-attr]


def test_a_recipient_refused_for_now_is_tried_again_later_as_the_same_message(
    posting: Settings, mailbox: Mailbox
) -> None:
    mailbox.refusals = ["450 busy", "451 still busy"]
    put(posting)
    waits = []
    for _ in range(2):
        assert mail_delivery.deliver(posting) == 0
        (row,) = rows(posting)
        waits.append(row.next_attempt_at - db.now())
        assert mail_delivery.deliver(posting) == 0
        make_due(posting)
    assert waits[0] < timedelta(minutes=1, seconds=1) < waits[1]
    assert mail_delivery.deliver(posting) == 1
    assert mailbox.arrived[0]["Message-ID"] == f"<{rows(posting)[0].id}@example.com>"


def test_a_recipient_refused_for_good_ends_it_and_the_next_message_still_leaves(
    posting: Settings, mailbox: Mailbox
) -> None:
    mailbox.refusals = ["550 no such person"]
    put(posting, to="gone@example.com")
    put(posting, to="here@example.com")
    assert mail_delivery.deliver(posting) == 1
    assert [(row.status, row.note) for row in rows(posting)] == [
        ("failed", "The recipient was refused with 550."),
        ("sent", None),
    ]


@pytest.mark.parametrize("place", ["at_data", "at_end"])
@pytest.mark.parametrize(("answer", "ending"), [("554 spam", "failed"), ("451 busy", "queued")])
def test_a_message_that_is_refused_stops_no_other(
    posting: Settings, mailbox: Mailbox, place: str, answer: str, ending: str
) -> None:
    # without a reset after it the next sender was refused for good as a nested one
    getattr(mailbox, place).append(answer)
    put(posting)
    put(posting, to="next@example.com")
    assert mail_delivery.deliver(posting) == 1
    first, second = rows(posting)
    assert (first.status, first.note) == (ending, f"The message was refused with {answer[:3]}.")
    assert (second.status, mailbox.recipients) == ("sent", ["next@example.com"])


@pytest.mark.parametrize("place", ["at_data", "at_end"])
def test_a_server_that_refuses_a_message_and_leaves_is_asked_again(
    posting: Settings, mailbox: Mailbox, place: str
) -> None:
    # it was told as one that may have arrived, and never sent
    getattr(mailbox, place).append("421 closing")
    put(posting)
    put(posting, to="next@example.com")
    assert mail_delivery.deliver(posting) == 0
    assert [(row.status, row.attempts) for row in rows(posting)] == [("queued", 1), ("queued", 1)]
    assert rows(posting)[0].note == "The message was refused with 421."
    make_due(posting)
    assert mail_delivery.deliver(posting) == 2


def test_a_domain_in_other_letters_is_written_to_by_its_name_in_the_dns(posting: Settings, mailbox: Mailbox) -> None:
    put(posting, to="ada@bücher.example")
    assert mail_delivery.deliver(posting) == 1
    assert mailbox.recipients == ["ada@xn--bcher-kva.example"]
    assert mailbox.arrived[0]["To"] == "ada@xn--bcher-kva.example"


def test_an_address_that_mail_cannot_carry_fails_alone(posting: Settings, mailbox: Mailbox) -> None:
    put(posting, to="josé@example.com")
    put(posting)
    assert mail_delivery.deliver(posting) == 1
    assert [row.status for row in rows(posting)] == ["failed", "sent"]


def test_a_server_that_is_down_is_asked_again_and_given_up_at_last(home: Path, sqlite_url: str) -> None:
    with mail_server() as gone:
        settings = sending_to(gone.port, home)
    put(settings)
    for attempt in range(len(mail_delivery.WAITS)):
        assert mail_delivery.deliver(settings) == 0
        assert (rows(settings)[0].status, rows(settings)[0].attempts) == ("queued", attempt + 1)
        make_due(settings)
    mail_delivery.deliver(settings)
    (row,) = rows(settings)
    assert (row.status, row.note) == ("failed", "The mail server cannot be used: ConnectionRefusedError.")


def test_a_line_that_breaks_at_hand_over_is_noted_and_the_message_not_sent_again(
    posting: Settings, mailbox: Mailbox
) -> None:
    mailbox.drops = True
    put(posting)
    put(posting, to="next@example.com")
    assert mail_delivery.deliver(posting) == 0
    first, second = rows(posting)
    assert (first.status, first.note) == ("unconfirmed", mail_delivery.INTERRUPTED)
    assert (second.status, second.attempts) == ("queued", 1)
    mailbox.drops = False
    make_due(posting)
    assert mail_delivery.deliver(posting) == 1
    assert mailbox.recipients == ["ada@example.com", "next@example.com"]


# also under a clock that was ahead
@pytest.mark.parametrize("ago", [mail_delivery.ABANDONED_AFTER + timedelta(seconds=1), -timedelta(days=365)])
def test_what_a_killed_process_was_handing_over_is_noted_and_not_sent_again(
    posting: Settings, mailbox: Mailbox, ago: timedelta
) -> None:
    put(posting)
    with db.transaction(posting.operational_url) as session:
        session.execute(sa.update(OutgoingMail).values(status="sending", handed_over_at=db.now()))
    mail_delivery.deliver(posting)
    assert rows(posting)[0].status == "sending"
    with db.transaction(posting.operational_url) as session:
        session.execute(sa.update(OutgoingMail).values(handed_over_at=db.now() - ago))
    mail_delivery.deliver(posting)
    assert (rows(posting)[0].status, rows(posting)[0].text) == ("unconfirmed", None)
    assert mailbox.arrived == []


def test_two_processes_send_each_message_once(posting: Settings, mailbox: Mailbox) -> None:
    for number in range(12):
        put(posting, to=f"p{number}@example.com")
    with ThreadPoolExecutor(3) as pool:
        sent = sum(pool.map(mail_delivery.deliver, [posting] * 3))
    assert sent == 12
    assert sorted(mailbox.recipients) == sorted(f"p{number}@example.com" for number in range(12))


def test_mail_never_leaves_unencrypted_where_encryption_is_asked_for(posting: Settings, mailbox: Mailbox) -> None:
    put(posting)
    assert mail_delivery.deliver(posting.model_copy(update={"smtp_starttls": "on"})) == 0
    assert mailbox.arrived == []
    assert rows(posting)[0].note == "The mail server cannot be used: SMTPNotSupportedError."


def test_old_messages_are_forgotten_with_their_addresses(posting: Settings) -> None:
    put(posting)
    put(posting, to="kept@example.com")
    mail_delivery.deliver(posting)
    with db.transaction(posting.operational_url) as session:
        old = sa.update(OutgoingMail).where(OutgoingMail.to_address == "ada@example.com")
        session.execute(old.values(ended_at=db.now() - timedelta(days=31)))
    mail_delivery.forget_old(posting)
    assert [row.to_address for row in rows(posting)] == ["kept@example.com"]


def test_the_worker_process_sends_what_waits_and_ends_when_told(posting: Settings, mailbox: Mailbox) -> None:
    put(posting)
    told = {"HOME": posting.home, "SMTP_HOST": "127.0.0.1", "SMTP_PORT": mailbox.port, "SMTP_STARTTLS": "off"}
    environment = {**os.environ, **{f"TOUCHLEDGER_{name}": str(value) for name, value in told.items()}}
    with subprocess.Popen([sys.executable, "-m", "api.worker"], env=environment) as process:
        try:
            wait_until(lambda: mailbox.arrived)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert mailbox.recipients == ["ada@example.com"]
