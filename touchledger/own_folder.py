"""The state folder, which holds keys and names people: made for its user alone; one that is there stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def make(home: Path) -> None:
    """Make the folder where there is none, with mode 0700 whatever the umask, and its parents as that says.

    Raises OSError. Whatever mode an operator gave it since, for a group or a container, is kept.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


def open_to_all(home: Path) -> Iterator[Path]:
    """What lies in the folder, or is linked there, that every user of this machine may read. Raises OSError."""
    yield from (path for path in sorted(home.iterdir()) if _may_all_read(path.resolve()))


def _may_all_read(path: Path) -> bool:
    needed = 0o005 if path.is_dir() else 0o004
    if not path.exists() or path.stat().st_mode & needed != needed:
        return False
    return all(folder.stat().st_mode & 0o001 for folder in path.parents)
