"""Raw records as JSON text, whatever they hold: nothing that came in may be lost because it cannot be written down."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

# made once: `json.dumps` makes one for each record
_sorted = json.JSONEncoder(sort_keys=True, default=str).encode

# no column takes what is nested so deep
DEEPEST = 50


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
        return _sorted(record)
    except (TypeError, ValueError, RecursionError):
        return json.dumps({str(name): _shown(value) for name, value in record.items()}, sort_keys=True)


def kept_apart(value: Any, depth: int = 0) -> Any:
    """A value of a column of text, in a form whose JSON is text only where the value is, however deep it lies.

    A decimal is a number, anything else that JSON has no form for an object of its type's name; `as_json` makes text of
    both, which a column of text takes when the record is judged again.
    """
    if value is None or isinstance(value, (str, int, float)) or depth > DEEPEST:
        return value
    if isinstance(value, Decimal):
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    if isinstance(value, Mapping):
        return {name: kept_apart(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [kept_apart(inner, depth + 1) for inner in value]
    return {type(value).__name__: _shown(value)}


def _shown(value: Any) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"
