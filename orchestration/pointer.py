"""Which snapshot is served: a small JSON file that is only ever replaced whole, together with its fencing token."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path

from orchestration import durable
from orchestration.locks import only_writer

LOCK_WAIT_SECONDS = 30.0


class StaleTokenError(RuntimeError):
    """A run that started later has published already."""


class DamagedPointerError(ValueError):
    """The pointer's file holds something else than a pointer."""


@dataclass(frozen=True)
class Pointer:
    """`file` is a name inside the published folder; `built_at` is an ISO 8601 instant in UTC.

    `checksum` is the CRC-32 of the file's bytes in hex digits; empty where an older version published it.
    """

    snapshot_id: str
    token: int
    file: str
    schema_hash: str
    built_at: str
    checksum: str = ""


def read(published: Path) -> Pointer | None:
    """The current pointer, or None before the first publication. Raises DamagedPointerError or OSError.

    What a newer version tells beside it is left out.
    """
    path = published / "current.json"
    if not path.exists():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedPointerError(f"{path.name} holds no pointer: {error}") from error
    found = told if isinstance(told, dict) else {}
    missing = [field.name for field in fields(Pointer) if field.default is MISSING and field.name not in found]
    if missing:
        raise DamagedPointerError(f"{path.name} holds no pointer: it lacks {', '.join(missing)}")
    if not isinstance(found["token"], int) or not isinstance(found["file"], str):
        raise DamagedPointerError(f"{path.name} holds no pointer: token is no whole number or file no text")
    return Pointer(**{field.name: found[field.name] for field in fields(Pointer) if field.name in found})


def read_to_replace(published: Path) -> Pointer | None:
    """The current pointer for one who publishes the next; None also where it is damaged."""
    try:
        return read(published)
    except DamagedPointerError:
        return None


def move(published: Path, to: Pointer, *, newest: int = 0) -> None:
    """Serve `to` from the next request on. Raises StaleTokenError when a later run's snapshot is being served.

    Where no pointer says which run's that is, it is `newest`: the largest token known to have published.
    """
    with only_writer(published / ".lock", purpose="move the pointer", wait_seconds=LOCK_WAIT_SECONDS):
        current = read_to_replace(published)
        token = current.token if current is not None else newest
        if to.token < token:
            raise StaleTokenError(f"run {to.token} cannot publish: run {token}, which started later, already has")
        durable.write_text(published / "current.json", json.dumps(asdict(to), indent=1))
