"""Click ids: which of several a record keeps, and when the click was, where Meta's cookie tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

# ids of ads' clicks, the surest first; of several a record keeps one
CLICK_IDS = ("gclid", "wbraid", "gbraid", "dclid", "fbclid", "ttclid")
# version, subdomain index, time of the click, click id
_COOKIE = re.compile(r"fb\.\d+\.(?P<milliseconds>\d{13})\.(?P<id>.+)", re.ASCII)


def chosen(click_ids: Mapping[str, str], before: datetime) -> tuple[str | None, str | None, datetime | None]:
    """Kind and value of the click id to keep, and its time if the cookie `fbc` among them tells it.

    A click after `before` is no time of this one.
    """
    given, clicked_at = dict(click_ids), None
    cookie = _COOKIE.fullmatch(given.get("fbc", ""))
    if cookie:
        del given["fbc"]
        if given.setdefault("fbclid", cookie["id"]) == cookie["id"]:
            clicked_at = datetime.fromtimestamp(int(cookie["milliseconds"]) / 1000, UTC)
    kind = min(given, key=lambda one: (CLICK_IDS.index(one) if one in CLICK_IDS else len(CLICK_IDS), one), default=None)
    if kind is None:
        return None, None, None
    is_told = kind == "fbclid" and clicked_at is not None and clicked_at <= before
    return kind, given[kind], clicked_at if is_told else None
