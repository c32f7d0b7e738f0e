"""Unicode's composed form (NFC) of a text, in steps that grow with its length.

Python puts the marks on a letter in order one by one, each past all that come after it: a quarter of a megabyte of two
marks in turns took more than half a minute, in which its process did nothing else. Sorted marks pass none.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

# no text that people write has as many on one letter; Unicode's stream-safe form allows 30
MANY = 64


def nfc(text: str) -> str:
    """The text in NFC, as `unicodedata.normalize` gives it."""
    return text if text.isascii() else unicodedata.normalize("NFC", in_order(text))


def in_order(text: str) -> str:
    """The same text to Unicode, with every long row of marks in the order of its normal forms."""
    return text if len(text) < MANY or text.isascii() else _marks().sub(_sorted, text)


@cache
def _marks() -> re.Pattern[str]:
    signs = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code))]
    return re.compile(f"[{''.join(signs)}]{{{MANY},}}+")


def _sorted(row: re.Match[str]) -> str:
    apart = "".join(unicodedata.normalize("NFD", mark) for mark in row[0])
    return "".join(sorted(apart, key=unicodedata.combining))
