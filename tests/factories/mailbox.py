"""A real mail server on loopback that keeps what it gets, and can be told to refuse."""

from __future__ import annotations

import email
import email.policy
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass
class Mailbox:
    """What arrived. `refusals` are answers to the next recipients, `at_sender` to the next senders, `at_data` to the
    next wishes to hand over and `at_end` to what was; after a 421 the line is closed, and with `drops` it breaks there.
    """

    port: int
    arrived: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    at_sender: list[str] = field(default_factory=list)
    at_data: list[str] = field(default_factory=list)
    at_end: list[str] = field(default_factory=list)
    drops: bool = False

    async def handle_MAIL(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.at_sender:
            return self.at_sender.pop(0)
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.refusals:
            return self.refusals.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.at_end:
            return self.at_end.pop(0)
        found = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.arrived.append(cast(EmailMessage, found))
        self.recipients += envelope.rcpt_tos
        if self.drops:
            server.transport.abort()
        return "250 OK"


class _Server(SMTP):
    async def smtp_DATA(self, arg: str) -> None:
        if self.event_handler.at_data:
            # as Postfix does, with the sender and the recipients kept
            await self.push(self.event_handler.at_data.pop(0))
        else:
            await super().smtp_DATA(arg)

    async def push(self, status: Any) -> None:
        await super().push(status)
        if str(status).startswith("421") and self.transport is not None:
            self.transport.close()


class _Controller(Controller):
    def factory(self) -> SMTP:
        return _Server(self.handler, **self.SMTP_kwargs)

    def _trigger_server(self) -> None:
        if self.ssl_context is None:
            super()._trigger_server()
            return
        # its own knock would use the server's context, which is for no client
        trusting = ssl.create_default_context()
        with (
            socket.create_connection((self.hostname, self.port), 1.0) as plain,
            trusting.wrap_socket(plain, server_hostname="localhost") as knocking,
        ):
            knocking.recv(1024)


def certificate(folder: Path) -> Path:
    """A certificate of `localhost`, good for a day and signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = x509.CertificateBuilder(own, own, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(datetime.now(UTC) - timedelta(hours=1))
    made = made.not_valid_after(datetime.now(UTC) + timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = folder / "localhost.pem"
    path.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM) + written)
    return path


@contextmanager
def mail_server(**options: Any) -> Iterator[Mailbox]:
    """Listen on a free port until the block ends; `options` are those of aiosmtpd's own server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        mailbox = Mailbox(probe.getsockname()[1])
    controller = _Controller(mailbox, hostname="127.0.0.1", port=mailbox.port, **options)
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()
