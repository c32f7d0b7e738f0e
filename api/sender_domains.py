"""The domain a workspace sends under: its DKIM key, the record its DNS must hold, and whether it does."""

from __future__ import annotations

import base64
import secrets
from datetime import timedelta

import sqlalchemy as sa
import structlog
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from api import db, dns_records, errors
from api.models import SenderDomain, Workspace
from touchledger.settings import Settings

log = structlog.get_logger("api.sender_domains")

MOST_BAD_DAYS = 3
# each may take five seconds, while mail and webhooks wait
MOST_UNANSWERED = 3
DAY = timedelta(hours=24)
LONGEST_FOUND = 500


def registered(settings: Settings, workspace_id: str, domain: str, local_part: str) -> SenderDomain:
    """A new sender domain with a key pair of its own, not yet verified."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return SenderDomain(
        workspace_id=workspace_id,
        domain=domain,
        local_part=local_part,
        selector=f"tl{secrets.token_hex(4)}",
        public_key=base64.b64encode(public).decode(),
        private_key=_cipher(settings).encrypt(private).decode(),
        status="pending",
        found=[],
        bad_days=0,
        created_at=db.now(),
    )


def wanted(row: SenderDomain) -> dict[str, str]:
    """The record that the domain's DNS must hold."""
    return {
        "type": "TXT",
        "host": f"{row.selector}._domainkey.{row.domain}",
        "value": f"v=DKIM1; k=rsa; p={row.public_key}",
    }


def look(settings: Settings, row: SenderDomain) -> dict[str, str | None]:
    """What DNS says of the record now: {status, found}, `status` being ok, wrong or missing."""
    record = wanted(row)
    found = [text for text in dns_records.texts(settings, record["host"]) if text.strip()]
    if any(_tags(text) == _tags(record["value"]) for text in found):
        return {"status": "ok", "found": record["value"]}
    return {"status": "wrong", "found": found[0][:LONGEST_FOUND]} if found else {"status": "missing", "found": None}


def settle(row: SenderDomain, seen: dict[str, str | None], *, is_daily: bool = False) -> None:
    """Write down what was seen. A verified domain fails only after three bad days in a row."""
    row.found, row.checked_at = [seen], db.now()
    if seen["status"] == "ok":
        row.verified_at = row.verified_at if row.status == "verified" else db.now()
        row.status, row.bad_days = "verified", 0
    elif is_daily and row.status == "verified":
        row.bad_days += 1
        if row.bad_days >= MOST_BAD_DAYS:
            row.status = "failed"


def check_all(settings: Settings) -> None:
    """Look at every verified domain that nobody has looked at for a day.

    One of which DNS gives no answer stays due; after `MOST_UNANSWERED` such in a row all others do too.
    """
    due = sa.and_(SenderDomain.status == "verified", SenderDomain.checked_at <= db.now() - DAY)
    live = sa.select(SenderDomain).join(Workspace, Workspace.id == SenderDomain.workspace_id)
    with db.transaction(settings.operational_url, durable=False) as session:
        # in any order: where the resolver is down, the same ones would be asked about each time
        rows = list(session.scalars(live.where(due, Workspace.archived_at.is_(None)).order_by(sa.func.random())))
    unanswered = 0
    for row in rows:
        try:
            seen, unanswered = look(settings, row), 0
        except errors.ApiError:
            # no answer says nothing about the domain: its own servers may be gone for an hour, or the resolver down
            log.warning("resolver_unavailable", domain=row.domain)
            unanswered += 1
            if unanswered == MOST_UNANSWERED:
                return
            continue
        with db.transaction(settings.operational_url) as session:
            current = session.get(SenderDomain, row.id, with_for_update=True)
            if current is not None and current.checked_at == row.checked_at:
                settle(current, seen, is_daily=True)


def signing_key(settings: Settings, row: SenderDomain) -> rsa.RSAPrivateKey | None:
    """The DKIM key; None when the deployment's own key is another one by now."""
    try:
        pem = _cipher(settings).decrypt(row.private_key.encode())
    except InvalidToken:
        return None
    key = serialization.load_pem_private_key(pem, None)
    return key if isinstance(key, rsa.RSAPrivateKey) else None


def _tags(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(";") if part.strip())
    return {name.strip(): "".join(value.split()) for name, _, value in pairs}


def _cipher(settings: Settings) -> Fernet:
    derived = HKDF(hashes.SHA256(), 32, salt=None, info=b"touchledger sender domains").derive(settings.signing_key())
    return Fernet(base64.urlsafe_b64encode(derived))
