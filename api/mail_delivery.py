"""Sending what waits in the outbox: retries with growing waits, and no message silently sent twice."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from email.utils import parseaddr

import sqlalchemy as sa
import structlog

from api import db, mail_writing
from api.models import Invitation, OneTimeToken, OutgoingMail
from api.one_by_one import never
from api.postponed import is_due, is_over
from touchledger.settings import Settings

log = structlog.get_logger("api.mail")

TIMEOUT_SECONDS = 30.0
AT_ONCE = 50
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360, 720, 1440))
# longer than any hand-over can take: whoever began it is gone
ABANDONED_AFTER = timedelta(minutes=10)
KEPT_FOR = timedelta(days=30)
SENDER = "The sender"
OVER = "The invitation or the code in the message was no longer good."
INTERRUPTED = "The line broke while the message was handed over; it may have arrived, and is not sent again."


class Refused(Exception):
    """The server did not take the message, and said so."""

    def __init__(self, code: int, *, about: str) -> None:
        super().__init__(f"{about} was refused with {code}")
        # the sender is the same for every message, and wrong until the operator mends it
        self.is_final = code >= 500 and about != SENDER


def deliver(settings: Settings, ended: Callable[[], bool] = never) -> int:
    """Send what is due; the number of messages that the server took. Safe in several processes at once.

    None is begun once `ended` says so: who is killed with one half handed over leaves it unconfirmed.
    """
    _settle_abandoned(settings)
    waiting = _due(settings)
    if not waiting:
        return 0
    try:
        with _connected(settings) as server:
            return sum(not ended() and _attempt(settings, server, mail) for mail in waiting)
    except (OSError, smtplib.SMTPException, UnicodeError) as problem:
        # what was tried by then has been settled; the rest were never begun
        for mail in waiting:
            _postpone(settings, mail, f"The mail server cannot be used: {type(problem).__name__}.", "queued")
        log.warning("mail_server_unusable", problem=type(problem).__name__)
        return 0


def forget_old(settings: Settings) -> None:
    """Drop rows of messages that ended long ago, with their addresses."""
    with db.transaction(settings.operational_url) as session:
        session.execute(sa.delete(OutgoingMail).where(OutgoingMail.ended_at < db.now() - KEPT_FOR))


def _attempt(settings: Settings, server: smtplib.SMTP, mail: OutgoingMail) -> bool:
    if not _opens_something(settings, mail):
        return _end(settings, mail, "failed", OVER)
    try:
        message = mail_writing.written(settings, mail)
        sender, recipient = map(mail_writing.carried, (parseaddr(settings.smtp_from)[1], mail.to_address))
    except (OSError, ValueError) as problem:
        return _end(settings, mail, "failed", f"The message cannot be written: {type(problem).__name__}.")
    # another process may be handing it over: what this one hears before its own claim is nothing about that
    held = "queued"
    try:
        _announce(server, sender, recipient)
        if not _claim(settings, mail):
            server.rset()
            return False
        held = "sending"
        code, _ = server.data(message)
        if code >= 400:
            raise Refused(code, about="The message")
    except (Refused, smtplib.SMTPDataError) as refusal:
        told = refusal if isinstance(refusal, Refused) else Refused(int(refusal.smtp_code), about="The message")
        # noted first: a server that refuses and leaves takes no reset
        _refused(settings, mail, told, held)
        # without it the next sender is a nested one, which is refused for good
        server.rset()
        return False
    except (OSError, smtplib.SMTPException):
        # before the claim nothing had left, and the caller postpones it; after it nobody knows
        _end(settings, mail, "unconfirmed", INTERRUPTED, "sending")
        raise
    return _end(settings, mail, "sent", None, "sending")


def _opens_something(settings: Settings, mail: OutgoingMail) -> bool:
    """Whether what a message carries, if anything, was neither taken back, replaced or used, nor is too old."""
    if mail.token_digest is None:
        return True
    at, digest = db.now(), mail.token_digest
    invitation = sa.exists().where(
        Invitation.digest == digest, Invitation.status == "pending", Invitation.expires_at > at
    )
    token = sa.exists().where(
        OneTimeToken.digest == digest, OneTimeToken.used_at.is_(None), OneTimeToken.expires_at > at
    )
    with db.transaction(settings.operational_url, durable=False) as session:
        return bool(session.scalar(sa.select(sa.or_(invitation, token))))


def _announce(server: smtplib.SMTP, sender: str, recipient: str) -> None:
    for about, (code, _) in ((SENDER, server.mail(sender)), ("The recipient", server.rcpt(recipient))):
        if code >= 400:
            raise Refused(code, about=about)


def _refused(settings: Settings, mail: OutgoingMail, refusal: Refused, held: str) -> None:
    if refusal.is_final:
        _end(settings, mail, "failed", f"{refusal}.", held)
    else:
        _postpone(settings, mail, f"{refusal}.", held)


@contextmanager
def _connected(settings: Settings) -> Iterator[smtplib.SMTP]:
    server = _server(settings)
    try:
        server.ehlo_or_helo_if_needed()
        if settings.smtp_starttls == "on":
            server.starttls(context=ssl.create_default_context())
            server.ehlo()
        if settings.smtp_username is not None and settings.smtp_password is not None:
            server.login(settings.smtp_username, settings.smtp_password.get_secret_value())
        yield server
        server.quit()
    finally:
        server.close()


def _server(settings: Settings) -> smtplib.SMTP:
    address = settings.smtp_host or "", settings.smtp_port
    if settings.smtp_starttls == "implicit":
        return smtplib.SMTP_SSL(*address, timeout=TIMEOUT_SECONDS, context=ssl.create_default_context())
    return smtplib.SMTP(*address, timeout=TIMEOUT_SECONDS)


def _due(settings: Settings) -> list[OutgoingMail]:
    ripe = sa.and_(OutgoingMail.status == "queued", is_due(db.now(), OutgoingMail, WAITS))
    chosen = sa.select(OutgoingMail).where(ripe).order_by(OutgoingMail.next_attempt_at, OutgoingMail.id).limit(AT_ONCE)
    with db.transaction(settings.operational_url, durable=False) as session:
        return list(session.scalars(chosen))


def _claim(settings: Settings, mail: OutgoingMail) -> bool:
    """Mark that the message is about to leave, on disk, before a byte of it does; False if another process has it."""
    return _changed(settings, mail, "queued", status="sending", handed_over_at=db.now())


def _end(settings: Settings, mail: OutgoingMail, status: str, note: str | None, before: str = "queued") -> bool:
    _changed(settings, mail, before, status=status, note=note, ended_at=db.now(), text=None, html=None)
    return status == "sent"


def _postpone(settings: Settings, mail: OutgoingMail, note: str, before: str) -> None:
    if mail.attempts >= len(WAITS):
        _end(settings, mail, "failed", note, before)
        return
    later: datetime = db.now() + WAITS[mail.attempts]
    changes = {"status": "queued", "attempts": mail.attempts + 1, "next_attempt_at": later, "note": note}
    _changed(settings, mail, before, **changes)


def _changed(settings: Settings, mail: OutgoingMail, before: str, **values: object) -> bool:
    same = sa.and_(OutgoingMail.id == mail.id, OutgoingMail.status == before, OutgoingMail.attempts == mail.attempts)
    with db.transaction(settings.operational_url) as session:
        result = session.execute(sa.update(OutgoingMail).where(same).values(**values))
        return bool(result.rowcount)  # type: ignore[attr-defined]


def _settle_abandoned(settings: Settings) -> None:
    over = is_over(db.now(), OutgoingMail.handed_over_at, ABANDONED_AFTER)
    gone = sa.and_(OutgoingMail.status == "sending", over)
    ending = {"status": "unconfirmed", "note": INTERRUPTED, "ended_at": db.now(), "text": None, "html": None}
    with db.transaction(settings.operational_url, durable=False) as session:
        session.execute(sa.update(OutgoingMail).where(gone).values(**ending))
