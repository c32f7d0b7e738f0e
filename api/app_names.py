"""Names of apps: what they may be written with, and when two of them read the same to people."""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST = 80
# letters and marks that nothing is drawn for, although they count as printable
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def is_plain(name: str) -> bool:
    """Whether it has 1 to 80 characters, all of them seen: no line breaks, nothing of no width or other direction."""
    return 0 < len(name) <= LONGEST and name.isprintable() and not _UNSEEN.search(name)


def key_of(name: str) -> str:
    """64 hex digits, the same for names that differ in case, spaces or compatible forms of letters alone."""
    shown = unicodedata.normalize("NFKC", _UNSEEN.sub("", name)).casefold()
    # folding may take a letter out of its normal form
    folded = " ".join(unicodedata.normalize("NFKC", shown).split())
    return hashlib.sha256(folded.encode()).hexdigest()
