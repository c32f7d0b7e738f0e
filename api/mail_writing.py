"""A message as it is handed over: under the deployment's name, or a report under its workspace's verified domain."""

from __future__ import annotations

import email.policy
import mimetypes
from contextlib import suppress
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr

import sqlalchemy as sa
from email_validator import validate_email

from api import db, dkim, sender_domains
from api.mail import on_one_line
from api.models import Branding, OutgoingMail, SenderDomain
from touchledger.settings import Settings

# seven bits: a relay that takes no more would write the body anew and break its signature
POLICY = email.policy.SMTP.clone(cte_type="7bit")


@dataclass(frozen=True)
class _Sender:
    address: str
    name: str
    reply_to: str | None = None
    signer: dkim.Signer | None = None


def written(settings: Settings, mail: OutgoingMail) -> bytes:
    """The message; ValueError for an address that mail cannot carry."""
    sender = _sender(settings, mail)
    message = EmailMessage(policy=POLICY)
    message["From"] = Address(sender.name, addr_spec=sender.address)
    message["To"] = Address(addr_spec=carried(mail.to_address))
    if sender.reply_to is not None:
        message["Reply-To"] = Address(addr_spec=sender.reply_to)
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(mail.created_at)
    message["Message-ID"] = f"<{mail.id}@{sender.address.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text or "")
    if mail.html is not None:
        message.add_alternative(mail.html, subtype="html")
    for part in mail.attachments:
        kind = part.get("mime_type") or mimetypes.guess_type(part["file_name"])[0] or "application/octet-stream"
        maintype, _, subtype = kind.partition("/")
        content = (settings.home / part["path"]).read_bytes()
        message.add_attachment(content, maintype=maintype, subtype=subtype, filename=part["file_name"])
    whole = message.as_bytes()
    return dkim.signed(whole, sender.signer) if sender.signer else whole


def carried(address: str) -> str:
    """An address as every server takes it: a domain in other letters by its name in the DNS.

    ValueError for one whose part before the at sign is not ASCII, which few servers take.
    """
    if address.isascii():
        return address
    spelt = validate_email(address, check_deliverability=False).ascii_email
    if spelt is None:
        raise ValueError("an address that mail cannot carry")
    return spelt


def _sender(settings: Settings, mail: OutgoingMail) -> _Sender:
    name, address = parseaddr(settings.smtp_from)
    own = _Sender(carried(address), name)
    if mail.report_id is None or mail.workspace_id is None:
        return own
    with db.transaction(settings.operational_url, durable=False) as session:
        brand = session.get(Branding, mail.workspace_id)
        chosen = sa.select(SenderDomain).where(
            SenderDomain.workspace_id == mail.workspace_id, SenderDomain.status == "verified"
        )
        domain = session.scalars(chosen).one_or_none()
    reply_to = None
    if brand and brand.reply_to_email:
        with suppress(ValueError):
            reply_to = carried(brand.reply_to_email)
    shown = on_one_line(brand.sender_name) if brand and brand.sender_name else name
    key = sender_domains.signing_key(settings, domain) if domain else None
    if domain is None or key is None:
        return _Sender(own.address, shown, reply_to)
    return _Sender(domain.from_address, shown, reply_to, dkim.Signer(domain.domain, domain.selector, key))
