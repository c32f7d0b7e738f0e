"""Whether the warehouse's marts are whole: a build that was killed halfway must never be published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestration import durable
from orchestration.locks import is_held
from touchledger.settings import Settings

# where a file of DuckDB says that it is one, behind a checksum
MARK = slice(8, 12)
# what DuckDB says of a file that ends before what it promises does; other faults of reading it are not its own
CUT_OFF = "Could not read enough bytes"
WAY_OUT = "remove it, and `touchledger build` makes it anew from what has landed"


class UnfinishedWarehouseError(RuntimeError):
    """The last build of the warehouse did not finish."""


def _mark(settings: Settings) -> Path:
    return settings.home / "warehouse.built"


class OtherVersionError(RuntimeError):
    """The warehouse lacks what this version reads of it; the message says what to do."""

    def __init__(self) -> None:
        super().__init__("another version of Touchledger built the warehouse; run `touchledger build` first")


class DamagedWarehouseError(RuntimeError):
    """The warehouse's file is none of DuckDB's, or damaged; the message says what to do."""


def require_database(settings: Settings) -> None:
    """Raise DamagedWarehouseError, or OSError, where no build could open the warehouse; one not made yet is fine."""
    try:
        with settings.warehouse.open("rb") as file:
            head = file.read(MARK.stop)
    except FileNotFoundError:
        return
    if head[MARK] != b"DUCK":
        raise DamagedWarehouseError(f"{settings.warehouse} is no DuckDB file; {WAY_OUT}")


def require_usable(settings: Settings) -> None:
    """Raise DamagedWarehouseError where the warehouse is damaged within.

    What else keeps dbt from opening it is raised in DuckDB's words, an IOException: which program has it open, first
    of all.
    """
    # most processes that ask for marks open nothing
    import duckdb

    if not settings.warehouse.exists():
        return
    try:
        duckdb.connect(str(settings.warehouse)).close()
    except duckdb.Error as error:
        told = str(error).partition("\n")[0]
        if isinstance(error, duckdb.IOException) and CUT_OFF not in told:
            raise
        raise DamagedWarehouseError(f"{settings.warehouse} is damaged ({told}); {WAY_OUT}") from None


@contextmanager
def rebuilding(settings: Settings, *, token: int, whole: bool) -> Iterator[None]:
    """Mark the warehouse unfinished while the block runs.

    A block that raises leaves it so. A `whole` build finishes it; a part of one only if it was finished before.
    Raises as `require_usable` does, for dbt's own words stay in its log.
    """
    require_usable(settings)
    finished_before = begin(settings)
    yield
    if whole or finished_before is not None:
        end(settings, str(token))


def begin(settings: Settings) -> str | None:
    """Mark the warehouse unfinished; gives what told that it was finished, for `end`, or None where it was not."""
    mark = _mark(settings)
    said = mark.read_text() if mark.exists() else None
    durable.remove(mark)
    return said


def end(settings: Settings, said: str) -> None:
    """Mark the warehouse finished."""
    _mark(settings).write_text(said)


def is_left_unfinished(settings: Settings) -> bool:
    """Whether the last build did not end well, and none is under way. Raises OSError where that cannot be read."""
    busy = (settings.home / "locks" / f"{name}.lock" for name in ("warehouse", "dbt"))
    return settings.warehouse.exists() and not any(map(is_held, busy)) and not is_finished(settings)


def is_finished(settings: Settings) -> bool:
    """Whether the last build ended well."""
    return _mark(settings).exists()


def require_finished(settings: Settings) -> None:
    """Raise UnfinishedWarehouseError unless the last build ended well."""
    if not is_finished(settings):
        raise UnfinishedWarehouseError("the warehouse is not built to its end; run `touchledger build` first")
