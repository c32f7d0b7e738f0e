"""Meta's cookie `fbc`, which holds a click id and the time of its click."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# version, subdomain index, time of the click, click id
_COOKIE = re.compile(r"fb\.\d+\.(?P<milliseconds>\d{13})\.(?P<id>.+)", re.ASCII)


def in_cookie(text: str) -> tuple[str, datetime] | None:
    """The `fbclid` that a value of the cookie holds, and when it was clicked (UTC); None for what is no such cookie."""
    cookie = _COOKIE.fullmatch(text)
    if cookie is None:
        return None
    return cookie["id"], datetime.fromtimestamp(int(cookie["milliseconds"]) / 1000, UTC)
