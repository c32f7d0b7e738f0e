"""What became of one mutant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A change in a model or module, and the test that saw it (None: it survived)."""

    area: str
    place: str
    change: str
    by: str | None
