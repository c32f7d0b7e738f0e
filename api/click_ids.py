"""Click ids: which of several a record keeps, and when the click was, where Meta's cookie tells it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from data_contracts.click_ids import in_cookie

# ids of ads' clicks, the surest first; of several a record keeps one
CLICK_IDS = ("gclid", "wbraid", "gbraid", "dclid", "fbclid", "ttclid")


def chosen(click_ids: Mapping[str, str], before: datetime) -> tuple[str | None, str | None, datetime | None]:
    """Kind and value of the click id to keep, and its time if the cookie `fbc` among them tells it.

    A click after `before` is no time of this one.
    """
    given, clicked_at = dict(click_ids), None
    if found := in_cookie(given.get("fbc", "")):
        del given["fbc"]
        if given.setdefault("fbclid", found[0]) == found[0]:
            clicked_at = found[1]
    kind = min(given, key=lambda one: (CLICK_IDS.index(one) if one in CLICK_IDS else len(CLICK_IDS), one), default=None)
    if kind is None:
        return None, None, None
    is_told = kind == "fbclid" and clicked_at is not None and clicked_at <= before
    return kind, given[kind], clicked_at if is_told else None
