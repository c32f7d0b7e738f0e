"""Logs that do not fill the disk: each holds so many megabytes, and as many of before in a file beside it."""

from __future__ import annotations

import shutil
from pathlib import Path


def before(log: Path) -> Path:
    """Where what a log held earlier lies."""
    return log.with_name(f"{log.name}.1")


def put_aside(log: Path, most_mb: int) -> None:
    """Give a log that is about to be opened a new file where it holds `most_mb` megabytes, or more; 0 for no end."""
    if _is_full(log, most_mb):
        log.replace(before(log))


def shorten(log: Path, most_mb: int) -> None:
    """Empty such a log while others write at its end; what it held lies beside it then.

    A line that is written between the last look at its end and that moment is lost. Raises OSError on a full disk,
    with all that was logged still there.
    """
    if _is_full(log, most_mb):
        with log.open("rb+") as full, before(log).open("wb") as kept:
            shutil.copyfileobj(full, kept, 1 << 20)
            kept.flush()
            full.truncate(0)


def _is_full(log: Path, most_mb: int) -> bool:
    try:
        return most_mb > 0 and log.stat().st_size >= most_mb * 1_000_000
    except FileNotFoundError:
        return False
