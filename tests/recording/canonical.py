"""What was recorded, so that another recording of the same code says the same: ids, instants, secrets and lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

# where every recording takes place: the day after the last of the demo's world
NOW = datetime(2026, 11, 17, 9, tzinfo=UTC)
WEEK = timedelta(days=7)
OWN = "01900000-"
SANDBOX = "http://127.0.0.1:8765"
CURSOR = "bmV4dC1wYWdlLW9mLXRoaXMtbGlzdA"
NONCE = "Qm9vdHMtaGF2ZS10aGUtdHJhY2tlcjE3"
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_PREFIX = re.compile(r"\b(tl_[a-z]+|trk_live)_[0-9A-Za-z]{8}(?![0-9A-Za-z])")
# what opens something is masked, what is drawn at random is always the same
DRAWN = (
    # an address has no sign beyond ASCII
    (re.compile(r"(?<=[/#])(tl_[a-z]+)_[0-9A-Za-z_-]{20,}"), r"\1_..."),
    (re.compile(r"\b(tl_[a-z]+|trk_live|whsec)_[0-9A-Za-z+/=_-]{20,}"), r"\1_…"),
    (re.compile(r"\breq_[0-9a-f]{32}\b"), "req_7182ec12e2284e90bb36cf9f7b8235bc"),
    (re.compile(r"/logos/[0-9a-f]{32}"), "/logos/de61b5c1b7b7a7890f9995cea41d733e"),
    (re.compile(r"/media/\S+"), "/media/a-signed-name"),
    (re.compile(r"\btl[0-9a-f]{8}\._domainkey"), "tl83d9b1c6._domainkey"),
    (re.compile(r"(p=MII[^;]{40})[^;]*"), r"\1…"),
    (re.compile(r"^1\.\.[0-9A-Za-z_=.-]{24,}$"), "1..…"),
    (re.compile(r"http://(127\.0\.0\.1|localhost):(?!8000\b|3000\b)[0-9]+"), SANDBOX),
)
# of how long builds take on the machine that records
ESTIMATED, BUILT_IN = ("expected_at", "visible_by"), timedelta(minutes=3)
CURSORS = ("cursor", "next_cursor")
# a row that is longer stands alone, and so is a longer text cut
LONG_ROW, LONG_TEXT = 700, 400


class Canonical:
    """Ids drawn in this recording are counted as they are met; `began` is before the first instant that is its own."""

    def __init__(self, began: datetime) -> None:
        self.began = began
        self.ids: dict[str, str] = {}
        self.prefixes: dict[str, str] = {}
        self.nonces: set[str] = set()

    def of(self, told: Any) -> Any:
        """The same value, cut and without what is this recording's alone."""
        self.nonces |= set(_named("nonce", told))
        for event_id in _named("event_id", told):
            self._counted(event_id)
        return self._of(told, "")

    def _of(self, told: Any, name: str) -> Any:
        if isinstance(told, dict):
            return {key: self._of(value, key) for key, value in told.items()}
        if isinstance(told, list):
            return [self._of(one, name) for one in _cut(told)]
        if isinstance(told, str):
            return CURSOR if name in CURSORS else self._text(told, name)
        return told

    def _text(self, text: str, name: str) -> str:
        for pattern, instead in DRAWN:
            text = pattern.sub(instead, text)
        for nonce in self.nonces:
            text = text.replace(nonce, NONCE)
        text = _PREFIX.sub(self._prefix, text)
        text = _UUID.sub(self._id, text)
        text = _INSTANT.sub(self._run_at if name == "next_run_at" else self._instant, text)
        text = _written(NOW + BUILT_IN) if name in ESTIMATED else text
        return text if len(text) <= LONG_TEXT else f"{text[:LONG_TEXT].rpartition(' ')[0]} …"

    def _id(self, found: re.Match[str]) -> str:
        known = found[0]
        is_drawn = known[14] in "47" and not known.startswith(OWN)
        return self._counted(known) if is_drawn else self.ids.get(known, known)

    def _counted(self, known: str) -> str:
        return self.ids.setdefault(known, f"019a8ff1-{0x3A00 + len(self.ids):04x}-7c52-9d1e-6b0f4a27c8e5")

    def _prefix(self, found: re.Match[str]) -> str:
        return self.prefixes.setdefault(found[0], f"{found[1]}_Example{len(self.prefixes) % 10}")

    def _instant(self, found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[0])
        if at < self.began:
            return found[0]
        ahead = timedelta(minutes=round((at - datetime.now(UTC)) / timedelta(minutes=1)))
        return _written(NOW + max(ahead, timedelta()))

    def _run_at(self, found: re.Match[str]) -> str:
        """The same hour of the same day of the week."""
        at = datetime.fromisoformat(found[0])
        return _written(at - (at - NOW) // WEEK * WEEK)


def _written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _named(name: str, told: Any) -> Iterator[str]:
    """What members of that name say, wherever they are."""
    if isinstance(told, dict):
        yield from ([told[name]] if isinstance(told.get(name), str) else [])
    for inner in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
        yield from _named(name, inner)


def _cut(rows: list[Any]) -> list[Any]:
    """One row or two, where there are many."""
    if rows and isinstance(rows[0], dict):
        return rows[: 1 if len(repr(rows[0])) > LONG_ROW else 2]
    return rows[:3]
