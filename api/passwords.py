"""Passwords: Argon2id hashes, and which new ones are refused."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from api import errors

SHORTEST = 15
LONGEST = 256

# the library's defaults are RFC 9106's second choice: 64 MiB, three passes
_HASHER = PasswordHasher()


def hashed(password: str) -> str:
    """The Argon2id hash to store."""
    return _HASHER.hash(password)


def is_right(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one. Without a stored one it takes as long, and is wrong."""
    try:
        return _HASHER.verify(stored or _nobodys(), password) and stored is not None
    except VerificationError:
        return False


def renewed(stored: str, password: str) -> str | None:
    """A hash under today's parameters for one that was made under others; None when it is up to date."""
    return hashed(password) if _HASHER.check_needs_rehash(stored) else None


def refuse_unfit(password: str) -> None:
    """422 weak_password outside 15 to 256 characters, compromised_password for a listed word, also when repeated."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise errors.WEAK_PASSWORD(f"A password has {SHORTEST} to {LONGEST} characters.")
    folded = password.casefold()
    if folded in _listed() or _repeated(folded) in _listed():
        raise errors.COMPROMISED_PASSWORD()


def _repeated(text: str) -> str:
    """What the text is a repetition of; itself when of nothing shorter."""
    return text[: (text + text).index(text, 1)]


@cache
def _nobodys() -> str:
    return hashed("the password of an address that nobody has")


@cache
def _listed() -> frozenset[str]:
    # loaded with the first new password: most processes never see one, and the lists take seven megabytes
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # type: ignore[import-untyped]

    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return frozenset({word.casefold() for words in FREQUENCY_LISTS.values() for word in words} | set(letters))
