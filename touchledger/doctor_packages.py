"""What a lock file says of an environment's packages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path


def pins(lock: Path) -> dict[str, str]:
    """Version by package, of those that are wanted on every system."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?=\s*\\$|\s*$)", lock.read_text(), re.MULTILINE)
    return dict(found)


def differing(lock: Path, installed: Callable[[str], str | None]) -> str:
    """Up to five packages that are missing or of another version, and how many more; empty where all are as locked."""
    found = [
        f"{name} {installed(name) or 'missing'} instead of {pin}"
        for name, pin in pins(lock).items()
        if installed(name) != pin
    ]
    return ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
