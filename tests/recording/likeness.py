"""In what two recordings differ, apart from figures: a demo of another size has others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_IN_A_TEXT = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d+")


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The places at which one operation was asked, answered or refused in another form; refusals also in other words.

    A null is of any form, and so is what an empty list would hold: another demo may have nobody to tell of there. What
    is by type has the types that there are.
    """
    refusals = [[_worded(refusal) for refusal in told.get("refusals", [])] for told in (one, other)]
    found = [] if refusals[0] == refusals[1] else [f"refusals: {refusals[0]}, now {refusals[1]}"]
    rest = [{name: told for name, told in each.items() if name != "refusals"} for each in (one, other)]
    return [*found, *_differences(rest[0], rest[1], "")]


def _worded(refusal: dict[str, Any]) -> dict[str, Any]:
    return {name: _IN_A_TEXT.sub("#", told) if isinstance(told, str) else told for name, told in refusal.items()}


def _differences(one: Any, other: Any, place: str) -> Iterator[str]:
    if one is None or other is None or place.endswith("_by_type"):
        return
    if _kind(one) is not _kind(other):
        yield f"{place}: {one!r}, now {other!r}"
    elif isinstance(one, dict):
        yield from (f"{place}/{name}: on one side only" for name in one.keys() ^ other.keys())
        for name in one.keys() & other.keys():
            yield from _differences(one[name], other[name], f"{place}/{name}")
    elif isinstance(one, list) and one and other:
        yield from _differences(one[0], other[0], f"{place}[0]")


def _kind(told: Any) -> type:
    """Whole numbers are numbers like others."""
    return float if isinstance(told, int) and not isinstance(told, bool) else type(told)
