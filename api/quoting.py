"""Other people's text as data: one string in a page, a Markdown file or a prompt, turning nothing beside it."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import orjson

# what could end a code fence or begin markup
_MARKUP = frozenset("`<>&")
# signs that nobody sees, or that end a line: format characters, controls, separators, private and lone ones
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Co", "Cn", "Cs"})
# selectors follow a visible sign without showing, and can carry a text of their own
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# they turn the direction of all that follows, or end what keeps it apart
_TURNING = re.compile(r"[\u2028-\u202e\u2066-\u2069]")


def quoted(value: Any) -> str:
    """Indented JSON of a value, in which no text can be taken for markup or hide from the eye.

    It reads back to the same value: such signs are written as escapes.
    """
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return "".join(_escaped(sign) if _is_risky(sign) else sign for sign in text)


def straight(text: str) -> str:
    """The text without signs that turn what follows; letters keep the direction that they have of themselves."""
    return _TURNING.sub("", text)


def within_a_line(text: str) -> str:
    """The text as part of one line of ours: it neither ends the line nor turns the rest of it."""
    return straight(_CONTROLS.sub(" ", text)).strip()


def apart(text: str) -> str:
    """The text straight, between signs that give it a direction of its own, for where `<bdi>` cannot."""
    return f"\u2068{straight(text)}\u2069"


def _is_risky(sign: str) -> bool:
    if sign in _MARKUP:
        return True
    # the only one that orjson writes outside a string
    if sign == "\n" or (sign.isascii() and sign.isprintable()):
        return False
    return unicodedata.category(sign) in _UNSEEN or any(ord(sign) in some for some in _SELECTORS)


def _escaped(sign: str) -> str:
    pairs = sign.encode("utf-16-be")
    return "".join(f"\\u{pairs[n] << 8 | pairs[n + 1]:04x}" for n in range(0, len(pairs), 2))
