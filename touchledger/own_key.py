"""The key that a state folder has of its own: made once, and never a second time where the first is lost."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from touchledger import own_folder


class LostKeyError(RuntimeError):
    """The state folder has its key no more; the message says what to do."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} {what}; put it back from the backup (docs/runbook.md)")


def file_of(home: Path) -> Path:
    """Where the key of a state folder lies."""
    return home / "secret.key"


@lru_cache(maxsize=8)
def of(home: Path) -> bytes:
    """The key, made where there is none (mode 0600). Raises LostKeyError where its file is empty, and OSError."""
    path = file_of(home)
    if not path.exists():
        _make(path)
    return read(path)


def read(path: Path) -> bytes:
    """The key of that file. Raises LostKeyError where it is empty, and OSError."""
    key = path.read_bytes()
    if not key.strip():
        # what is signed under it anybody could sign
        raise LostKeyError(path, "holds no key")
    return key


def _make(path: Path) -> None:
    own_folder.make(path.parent)
    temporary = path.with_suffix(f".{secrets.token_hex(4)}")
    temporary.touch(mode=0o600)
    with temporary.open("w") as file:
        file.write(secrets.token_hex(32))
        file.flush()
        # after a power cut the name would be there without what was written
        os.fsync(file.fileno())
    # a link never replaces: of two processes starting at once, the first one's key stands
    with suppress(FileExistsError):
        path.hardlink_to(temporary)
    temporary.unlink()
