"""Raw records as JSON text, whatever they hold: nothing that came in may be lost because it cannot be written down."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any


class RepeatedKeyError(ValueError):
    """A JSON object with two members of one name; the message names it."""


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object as a reader hands them over; RepeatedKeyError rather than the last of two."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise RepeatedKeyError(f"the key {name[:100]!r} is there twice in one object")
    return found


def as_json(record: Mapping[str, Any]) -> str:
    """The record as one line of ASCII JSON with sorted keys; dates and decimals as text, half surrogates escaped."""
    try:
        return json.dumps(record, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return json.dumps({str(name): _shown(value) for name, value in record.items()}, sort_keys=True)


def _shown(value: Any) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"
