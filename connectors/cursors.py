"""Whether a walk through a list moves on from page to page."""

from __future__ import annotations

from connectors.errors import Malformed

# a page may come twice, and the list go on after it
REPEATED_PAGES = 3


class Steps:
    """The cursors that one walk came by, the one it begins with among them (None at the start of a list)."""

    def __init__(self, provider: str, start: str | None) -> None:
        self._provider = provider
        self._seen = {start}
        self._repeated = 0

    def to(self, cursor: str | None) -> None:
        """Note the cursor of the next page. Raises Malformed once too many in a row were there before."""
        self._repeated = self._repeated + 1 if cursor in self._seen else 0
        if self._repeated > REPEATED_PAGES:
            raise Malformed(self._provider, "the list does not move on: its next pages were there before")
        self._seen.add(cursor)
