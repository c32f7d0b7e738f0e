"""JSON as others write it: text cut in the middle of a character, as at a length they allow, and what is no number."""

from __future__ import annotations

import re
from typing import Any, NoReturn

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# NUL, or half of a surrogate pair: as an escape, or as the bytes that stand for it
_SUSPECT = re.compile(
    rb"\\u0000|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
    rb"|\xed[\xa0-\xbf]"
)
_TORN = re.compile("[\x00\ud800-\udfff]")


def whole(body: Any, written: bytes) -> Any:
    """The JSON value that was `written` so, with U+FFFD for each half of a surrogate pair and each NUL in its texts.

    No database takes either, nor does an answer of ours: one such name would take its whole list along.
    """
    return _mended(body) if _SUSPECT.search(written) else body


def no_constant(name: str) -> NoReturn:
    """What a reader of JSON calls for NaN and the infinities. Raises ValueError."""
    raise ValueError(f"{name} is not a JSON number")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _TORN.sub(REPLACEMENT, value)
    if isinstance(value, list):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(one) for name, one in value.items()}
    return value
