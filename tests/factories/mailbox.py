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
from aiosmtpd.smtp import SMTP


@dataclass
class Mailbox:
    """What arrived. `refusals` are answers to the next recipients; with `drops` the line breaks at hand-over.

    `data_refusals` answer the next messages before they are read, `verdicts` once they are.
    """

    port: int
    arrived: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    data_refusals: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    drops: bool = False

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.refusals:
            return self.refusals.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.verdicts:
            return self.verdicts.pop(0)
        found = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.arrived.append(cast(EmailMessage, found))
        self.recipients += envelope.rcpt_tos
        if self.drops:
            server.transport.abort()
        return "250 OK"


class _Server(SMTP):
    """Keeps sender and recipient of a message that it does not want to read, and hangs up behind a 421, as many do."""

    async def smtp_DATA(self, arg: str) -> None:
        mailbox: Mailbox = self.event_handler
        if mailbox.data_refusals:
            await self.push(mailbox.data_refusals.pop(0))
        else:
            await super().smtp_DATA(arg)

    async def push(self, status: Any) -> None:
        await super().push(status)
        if str(status).startswith("421") and self.transport is not None:
            self.transport.close()


class _Controller(Controller):
    def factory(self) -> SMTP:
        return _Server(self.handler, **self.SMTP_kwargs)


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """Listen on a free port until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        mailbox = Mailbox(probe.getsockname()[1])
    controller = _Controller(mailbox, hostname="127.0.0.1", port=mailbox.port)
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()
