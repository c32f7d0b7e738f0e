"""Instants as the world counts them: whole epoch seconds, always UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo


def epoch(day: date) -> int:
    """Epoch seconds of midnight UTC at the start of `day`."""
    return int(datetime.combine(day, time.min, UTC).timestamp())


def rfc3339(at: int, millisecond: int | None = None) -> str:
    """`2026-03-05T14:02:11Z`, with three decimals when a millisecond (0-999) is given."""
    text = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}Z" if millisecond is None else f"{text}.{millisecond:03d}Z"


def local_date(at: int, zone: ZoneInfo) -> date:
    """The calendar day in `zone` at an epoch second."""
    return datetime.fromtimestamp(at, zone).date()
