"""Secrets the service hands out: prefix, 32 random base62 characters, and a checksum that refuses typos offline.

A secret matches `PATTERN`. Only its SHA-256 digest is stored, so a copy of the database opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
import zlib
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy.orm import Session

from api.models import ApiKey
from api.scopes import DEFAULT_SCOPES, Scope

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM = 32
CHECKSUM = 6
PATTERN = re.compile(r"\b(tl_(?:live|user|sess|app|secret|refr|inv|shr|rst)|trk_live)_[0-9A-Za-z]{38}\b")


def checksum(text: str) -> str:
    """CRC-32 of `text` in six base62 digits, zero-padded."""
    number, digits = zlib.crc32(text.encode()), ""
    while number:
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits.rjust(CHECKSUM, ALPHABET[0])


def mint(prefix: str) -> str:
    """A new secret of the kind, for example `mint("tl_live")`; 190 random bits."""
    body = f"{prefix}_" + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return body + checksum(body)


def is_well_formed(secret: str, prefix: str) -> bool:
    """Whether the secret has the kind's prefix, the right length and a checksum that fits."""
    match = PATTERN.fullmatch(secret)
    if match is None or match.group(1) != prefix:
        return False
    return hmac.compare_digest(checksum(secret[:-CHECKSUM]), secret[-CHECKSUM:])


def digest(secret: str) -> str:
    """SHA-256 of the whole secret, hexadecimal: what is stored and looked up."""
    return hashlib.sha256(secret.encode()).hexdigest()


def shown(secret: str) -> str:
    """The part that lists may show: the kind and the first eight random characters."""
    head, _, body = secret.rpartition("_")
    return f"{head}_{body[:8]}"


def mint_api_key(
    session: Session,
    *,
    profile_id: str,
    scopes: Iterable[str] = DEFAULT_SCOPES,
    name: str,
    expires_at: datetime | None = None,
    secret: str | None = None,
    app_id: str | None = None,
) -> tuple[ApiKey, str]:
    """Store a new key for one profile. Returns it with its secret, which cannot be read again later.

    A given `secret` must be well formed; the demo does this to keep its key over restarts. ValueError for an
    unknown scope or a malformed secret. With `app_id` it is a partner key.
    """
    wanted = sorted({Scope(scope).value for scope in scopes})
    secret = secret or mint("tl_live")
    if not is_well_formed(secret, "tl_live"):
        raise ValueError("a given secret must be well formed")
    key = ApiKey(
        profile_id=profile_id,
        name=name,
        prefix=shown(secret),
        digest=digest(secret),
        scopes=wanted,
        app_id=app_id,
        expires_at=expires_at,
    )
    session.add(key)
    session.flush()
    return key, secret
