"""Ad-people a second time, naively: sets of people over the touches of a window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

ORIGINS = ("partner_ad_referral", "conversation_referral", "web", "other")


@dataclass(frozen=True)
class AdTouch:
    """A touch that carried an ad's id; `day` is local."""

    person: int
    ts: int
    key: str
    day: date
    channel: str
    origin: str
    ad: str


def firsts(touches: Sequence[AdTouch]) -> list[AdTouch]:
    """The earliest touch of each person."""
    found: dict[int, AdTouch] = {}
    for touch in sorted(touches, key=lambda touch: (touch.ts, touch.key.encode())):
        found.setdefault(touch.person, touch)
    return list(found.values())


def answer(
    touches: Sequence[AdTouch], first: date, last: date, *, group_by: str, channel: str | None, first_only: bool
) -> dict[str, Any]:
    """Totals, and the counts of every bucket in the order they are answered in."""
    counted = firsts(touches) if first_only else touches
    inside = [t for t in counted if first <= t.day <= last and channel in (None, t.channel)]
    buckets: dict[str, list[AdTouch]] = defaultdict(list)
    key = _KEYS[group_by]
    if group_by != "ad":
        for n in range((last - first).days + 1):
            _ = buckets[key(AdTouch(0, 0, "", first + timedelta(days=n), "", "", ""))]
    for touch in inside:
        buckets[key(touch)].append(touch)
    told = [(name, figures(of)) for name, of in buckets.items()]
    if group_by == "ad":
        told.sort(key=lambda one: (-one[1]["ad_people"], -one[1]["ad_touches"], one[0]))
    return {"totals": figures(inside), "buckets": told}


def figures(touches: Sequence[AdTouch]) -> dict[str, Any]:
    """Distinct people and touches, and the same of each origin."""
    return {
        "ad_people": len({touch.person for touch in touches}),
        "ad_touches": len(touches),
        "by_origin": {
            origin: {
                "people": len({touch.person for touch in touches if touch.origin == origin}),
                "touches": sum(touch.origin == origin for touch in touches),
            }
            for origin in ORIGINS
        },
    }


_KEYS: dict[str, Callable[[AdTouch], str]] = {
    "month": lambda touch: touch.day.isoformat()[:7],
    "day": lambda touch: touch.day.isoformat(),
    "ad": lambda touch: touch.ad,
}
