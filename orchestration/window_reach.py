"""The reach of windows as it lands: whole months, those that are pulled and earlier ones that lack."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from connectors.ad_platform import AdPlatform, days_of, last_of_month, reach_windows
from orchestration.gathered import held

if TYPE_CHECKING:
    from orchestration.pulls import Pull


def land_reach(pull: Pull, platform: AdPlatform, first: date, until: date) -> None:
    """Land each month that is due as a batch, the newest first; what a platform raises leaves earlier ones due."""
    # weeks far from the newest window it is asked for may be left out by a platform, so that one is always among them
    newest = (until - timedelta(days=27), until)
    for month in _months_due(pull, first, until):
        # whole months, so that a month's batch always holds all of its windows
        windows = reach_windows(month, min(last_of_month(month), until))
        rows = [row for row in platform.reach(sorted({*windows, newest})) if row["date_to"].replace(day=1) == month]
        pull.land("entity_reach", rows, f"-{month:%Y-%m}")


def _months_due(pull: Pull, first: date, until: date) -> list[date]:
    """The months whose reach is due, by their first days, newest first: those pulled, and earlier ones that lack."""
    due, landed = {day.replace(day=1) for day, _ in days_of(first, until)}, pull.landed("entity_reach")
    before = {month for month in _months_delivered(pull) - due if month < first}
    due |= {month for month in before if not _is_whole(landed.get(f"{month:%Y-%m}"), month)}
    return sorted(due, reverse=True)


def _months_delivered(pull: Pull) -> set[date]:
    connection, beginning = pull.connection, f"{pull.connection.id}-"
    # days that were put together have no file of their own
    batches = held(pull.lake.raw / "ad_delivery" / connection.profile_id / connection.provider)
    days = {one.removeprefix(beginning) for one in batches if one.startswith(beginning)}
    return {date.fromisoformat(f"{day[:7]}-01") for day in days}


def _is_whole(batch: Path | None, month: date) -> bool:
    """Whether the batch was landed when the month was over; one that tells of no window from its first day is."""
    if batch is None:
        return False
    ends = pq.read_table(batch, columns=["date_to"], filters=[("date_from", "=", month)])["date_to"].to_pylist()
    return not ends or last_of_month(month) in ends
