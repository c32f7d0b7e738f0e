"""A real mail server on loopback that keeps what it gets, and can be told to refuse."""

from __future__ import annotations

import email
import email.policy
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any, cast

from aiosmtpd.controller import Controller


@dataclass
class Mailbox:
    """What arrived. `refusals` are answers to the next recipients; with `drops` the line breaks at hand-over."""

    port: int
    arrived: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    drops: bool = False

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.refusals:
            return self.refusals.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        found = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.arrived.append(cast(EmailMessage, found))
        self.recipients += envelope.rcpt_tos
        if self.drops:
            server.transport.abort()
        return "250 OK"


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """Listen on a free port until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        mailbox = Mailbox(probe.getsockname()[1])
    controller = Controller(mailbox, hostname="127.0.0.1", port=mailbox.port)
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()
