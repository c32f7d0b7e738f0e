"""Times as text: ISO 8601 with their offset from UTC, as programs and databases write them (RFC 3339 among them)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from data_contracts.formats import Refused

EXPECTED = "not an ISO 8601 timestamp like 2026-01-31T09:30:00+01:00"
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?P<offset>[Zz]|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)


def parsed(text: str) -> datetime:
    """The instant in UTC; Refused for what is none, has no offset, or does not exist."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise Refused(EXPECTED)
    if match["offset"] is None:
        raise Refused("a timestamp needs its offset from UTC")
    spelt = match[0].upper()
    try:
        return _after_leap(spelt) if spelt[17:19] == "60" else in_utc(datetime.fromisoformat(spelt))
    except (ValueError, OverflowError):
        raise Refused("not a time that exists") from None


def in_utc(at: datetime) -> datetime:
    """The same instant in UTC; Refused for one that no calendar holds there."""
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise Refused("not a time that exists") from None


def _after_leap(text: str) -> datetime:
    """A leap second as the one after it, as POSIX counts; ValueError where no month ends with it (RFC 3339)."""
    at = in_utc(datetime.fromisoformat(f"{text[:17]}59{text[19:]}")) + timedelta(seconds=1)
    if (at.day, at.hour, at.minute, at.second) != (1, 0, 0, 0):
        raise ValueError(text)
    return at
