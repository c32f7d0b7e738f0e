"""Which code answers: what a cache holds of the version before an upgrade is none of this version's answers."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent


@cache
def code_digest() -> bytes:
    """SHA-256 of the code of the API, 32 bytes: the same on every machine of one version, whatever its files' times.

    Read once, as a process starts: an upgrade may change the files below one that runs.
    """
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()
