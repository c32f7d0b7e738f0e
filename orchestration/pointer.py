"""Which snapshot is served: a small JSON file that is only ever replaced whole, together with its fencing token."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from orchestration import durable
from orchestration.locks import only_writer

LOCK_WAIT_SECONDS = 30.0


class StaleTokenError(RuntimeError):
    """A run that started later has published already."""


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
    """The current pointer, or None before the first publication."""
    path = published / "current.json"
    return Pointer(**json.loads(path.read_text())) if path.exists() else None


def move(published: Path, to: Pointer) -> None:
    """Serve `to` from the next request on. Raises StaleTokenError when a later run's snapshot is being served."""
    with only_writer(published / ".lock", purpose="move the pointer", wait_seconds=LOCK_WAIT_SECONDS):
        current = read(published)
        if current is not None and to.token < current.token:
            raise StaleTokenError(
                f"run {to.token} cannot publish: run {current.token}, which started later, already has"
            )
        durable.write_text(published / "current.json", json.dumps(asdict(to), indent=1))
