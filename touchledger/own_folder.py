"""The state folder, which holds keys and names people: made for its user alone; one that is there stays as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def make(home: Path) -> None:
    """Make the folder where there is none, with mode 0700 whatever the umask, and its parents as that says.

    Raises OSError. Whatever mode an operator gave it since, for a group or a container, is kept.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


def open_to_all(home: Path) -> Iterator[Path]:
    """What lies in the folder, or is linked there, that every user of this machine may read. Raises OSError."""
    yield from (path for path in sorted(home.iterdir()) if may_all_read(path))


def may_all_read(path: Path) -> bool:
    """Whether every user of this machine may read a file, or list a folder and enter it; not where it is gone."""
    # a Path raises an error of its own for a link to itself
    real = Path(os.path.realpath(path))
    try:
        needed = 0o005 if real.is_dir() else 0o004
        return real.stat().st_mode & needed == needed and all(one.stat().st_mode & 0o001 for one in real.parents)
    except OSError:
        # gone since it was listed, or a link that leads nowhere
        return False
