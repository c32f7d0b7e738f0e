"""Columns whose texts are sealed at rest: whoever reads the database's files or a dump of it reads no credential."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache

import sqlalchemy as sa
import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from api import db
from touchledger import settings
from touchledger.settings import Settings

PREFIX = "sealed:"

log = structlog.get_logger("api.sealing")


class SealedText(sa.types.TypeDecorator[str]):
    """A text that is encrypted in the database and plain in the program; "" stays "", and cannot be told from none.

    Compare it in Python: the same text is sealed into another one each time. What none of the deployment's keys opens
    reads as "".
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return seal(value) if value else value

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return unseal(value) if value else value

    def compare_values(self, x: str | None, y: str | None) -> bool:
        # what cannot be opened reads as "", and emptying it has to reach the database
        return bool(x) and x == y


def seal(text: str) -> str:
    """The text as it is stored, under the newest of the deployment's keys."""
    return PREFIX + _ciphers(tuple(settings.load().token_keys())).encrypt(text.encode()).decode()


def unseal(stored: str) -> str:
    """The text that `seal` was given, under whichever key; "" when none fits."""
    try:
        return _opened(stored)
    except InvalidToken:
        log.warning("sealed_by_an_unknown_key")
        return ""


def opens(keys: Sequence[bytes], stored: str) -> bool:
    """Whether one of the keys opens it; what stands plain needs none."""
    if not stored.startswith(PREFIX):
        return True
    try:
        return bool(keys and _ciphers(tuple(keys)).decrypt(stored.removeprefix(PREFIX)))
    except InvalidToken:
        return False


def renewed(stored: str) -> str | None:
    """What stands sealed by an older key, or plain, sealed by the newest; None where that is so, or no key opens it."""
    newest = _ciphers(tuple(settings.load().token_keys()[:1]))
    try:
        if stored.startswith(PREFIX):
            newest.decrypt(stored.removeprefix(PREFIX))
            return None
    except InvalidToken:
        pass
    text = unseal(stored)
    return seal(text) if text else None


def renew_tokens(of: Settings) -> int:
    """Seal with the newest key what an older one sealed, so that the older can go; gives how many."""
    table = sa.table("connections", sa.column("id"), sa.column("token", sa.Text))
    with db.transaction(of.operational_url) as session:
        kept = session.execute(
            sa.select(table.c.id, table.c.token).where(table.c.token != "").with_for_update(key_share=True)
        ).all()
        stale = [(row.id, new) for row in kept if (new := renewed(row.token)) is not None]
        for number, new in stale:
            session.execute(sa.update(table).where(table.c.id == number).values(token=new))
    return len(stale)


def _opened(stored: str) -> str:
    if not stored.startswith(PREFIX):
        return stored
    ciphers = _ciphers(tuple(settings.load().token_keys()))
    return ciphers.decrypt(stored.removeprefix(PREFIX)).decode()


@lru_cache(maxsize=8)
def _ciphers(keys: tuple[bytes, ...]) -> MultiFernet:
    derived = (HKDF(hashes.SHA256(), 32, salt=None, info=b"touchledger tokens").derive(key) for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(one)) for one in derived])
