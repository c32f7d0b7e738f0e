"""Snapshots whose tables all carry one number, so that a read that mixes two versions shows."""

from __future__ import annotations

from api.snapshot import Snapshots
from tests.factories import served


def version(number: int) -> served.Rows:
    """Two tables that carry the version's number."""
    day = {"profile_key": 1, "day": "2026-03-01"}
    return {
        "outcomes_daily": [{**day, "cash_minor": number}],
        "delivery_daily": [{**day, "level": "ad", "entity_key": n, "spend_minor": number} for n in range(3)],
    }


def number_in(snapshots: Snapshots, snapshot_id: str | None = None) -> int | None:
    """The number of the version that is read; None when there is nothing to read."""
    with snapshots.reader(snapshot_id) as reader:
        return int(reader.rows("select cash_minor from outcomes_daily")[0][0]) if reader else None
