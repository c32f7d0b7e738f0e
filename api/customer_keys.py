"""`ck_...`: the name of a person that callers see, different in every profile and telling nothing about them.

A key is an HMAC of the person's id under the deployment's signing key, followed by the id itself under a pad that the
HMAC seeds (the SIV construction): the same person has the same key for ever, nobody else can make one, and its person
is found without a table.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import uuid

from touchledger.settings import Settings

PREFIX = "ck_"
FORM = re.compile(r"ck_[A-Za-z0-9_-]{43}")
_HALF = 16


def customer_key(settings: Settings, profile_id: str, person_id: str) -> str:
    """The key of a person (`person_id`, the UUID of `int_person_identifiers`) as one profile's callers see it."""
    person = uuid.UUID(person_id).bytes
    seal = _seal(settings, profile_id, person)
    hidden = _mixed(person, _pad(settings, profile_id, seal))
    return PREFIX + base64.urlsafe_b64encode(seal + hidden).decode().rstrip("=")


def person_of(settings: Settings, profile_id: str, key: str) -> str | None:
    """The person id of a key of this profile; None for another profile's, an altered one or any other text.

    The person may since have been merged into another or erased: whether it exists is the snapshot's to say.
    """
    if not FORM.fullmatch(key):
        return None
    raw = base64.urlsafe_b64decode(key.removeprefix(PREFIX) + "=")
    seal, hidden = raw[:_HALF], raw[_HALF:]
    person = _mixed(hidden, _pad(settings, profile_id, seal))
    own = hmac.compare_digest(seal, _seal(settings, profile_id, person))
    # spare bits of the last character would give one key several spellings
    known = own and customer_key(settings, profile_id, str(uuid.UUID(bytes=person))) == key
    return str(uuid.UUID(bytes=person)) if known else None


def _seal(settings: Settings, profile_id: str, person: bytes) -> bytes:
    return _mac(settings, b"person", profile_id, person)


def _pad(settings: Settings, profile_id: str, seal: bytes) -> bytes:
    return _mac(settings, b"pad", profile_id, seal)


def _mac(settings: Settings, purpose: bytes, profile_id: str, content: bytes) -> bytes:
    message = b"\0".join((b"customer_key", purpose, profile_id.encode(), content))
    return hmac.new(settings.signing_key(), message, hashlib.sha256).digest()[:_HALF]


def _mixed(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
