"""Days of ad delivery, and which of them a run pulls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import dagster as dg

from touchledger.settings import load

FIRST_DAY = date(2024, 1, 1)
# platforms revise the conversions of the last 28 days
REVISED_DAYS = 28
HISTORY_DAYS = 366

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


@dataclass(frozen=True)
class DayRange:
    """Days from `first` to `last`, both included."""

    first: date
    last: date

    @property
    def tags(self) -> dict[str, str]:
        """The tags that make one Dagster run cover the range."""
        return {RANGE_START: self.first.isoformat(), RANGE_END: self.last.isoformat()}


@dataclass(frozen=True)
class Known:
    """What is landed of one ad account: the last whole day, the day it is there, and how far back it is kept."""

    through: date | None
    today: date
    history_days: int = HISTORY_DAYS

    def wanted(self, revised_days: int) -> DayRange:
        """All of its history the first time; later the days that the platform may still revise."""
        if self.through is None:
            return DayRange(self.today - timedelta(days=self.history_days - 1), self.today)
        return DayRange(min(self.through, self.today) - timedelta(days=revised_days - 1), self.today)


def days_to_pull(known: Iterable[Known], *, now: date, revised_days: int = REVISED_DAYS) -> DayRange:
    """The range that serves every account; without any, the day `now`."""
    ranges = [one.wanted(revised_days) for one in known] or [DayRange(now, now)]
    return DayRange(max(FIRST_DAY, min(one.first for one in ranges)), max(one.last for one in ranges))


def days_ahead(today: date, demo_today: date) -> int:
    """How many days past the last complete UTC day may be pulled.

    One for accounts east of Greenwich; more where the demo's clock is ahead of the machine's.
    """
    return max(1, (demo_today - today).days + 1)


DAYS = dg.DailyPartitionsDefinition(
    start_date=FIRST_DAY.isoformat(), end_offset=days_ahead(datetime.now(UTC).date(), load().demo_today)
)
