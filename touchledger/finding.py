"""One line of what the doctor found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One line: `verdict` is ok, warn (works, but look) or fail (does not work); `way_out` says what to do."""

    subject: str
    verdict: Literal["ok", "warn", "fail"]
    found: str
    way_out: str = ""
