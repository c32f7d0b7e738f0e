"""Whether the warehouse's marts are whole: a build that was killed halfway must never be published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from touchledger.settings import Settings


class UnfinishedWarehouseError(RuntimeError):
    """The last build of the warehouse did not finish."""


def _mark(settings: Settings) -> Path:
    return settings.home / "warehouse.built"


@contextmanager
def rebuilding(settings: Settings, *, token: int, whole: bool) -> Iterator[None]:
    """Mark the warehouse unfinished while the block runs.

    A block that raises leaves it so. A `whole` build finishes it; a part of one only if it was finished before.
    """
    mark = _mark(settings)
    finished_before = mark.exists()
    mark.unlink(missing_ok=True)
    yield
    if whole or finished_before:
        mark.write_text(str(token))


def require_finished(settings: Settings) -> None:
    """Raise UnfinishedWarehouseError unless the last build ended well."""
    if not _mark(settings).exists():
        raise UnfinishedWarehouseError("the warehouse is not built to its end; run `touchledger build` first")
