"""Days of ad delivery, and which of them a run pulls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import dagster as dg

from orchestration.instance import PREFIX
from touchledger.settings import load

FIRST_DAY = date(2024, 1, 1)
# platforms revise the conversions of the last 28 days
REVISED_DAYS = 28
# Google dates a conversion on its click, and takes up to 90 days to see it
REVISED_LONGER = {"google": 90}
HISTORY_DAYS = 366
# Meta tells nothing of what is more than 37 months back, and refuses a range that begins there
KEPT_DAYS = 3 * 365

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
# a run that asks those connections alone of which somebody asked for a sync; of its tags the list of runs shows none
ONLY_QUEUED = f"{PREFIX}only_queued"
# one that leaves those accounts alone for a while that were silent several times in a row
LEAVES_SILENT = f"{PREFIX}leaves_silent"


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
    """What is landed of one ad account: the last whole day, the day it is there, how long days are kept and revised."""

    through: date | None
    today: date
    history_days: int = HISTORY_DAYS
    revised_days: int = REVISED_DAYS

    def wanted(self, days: DayRange) -> DayRange:
        """What a run over `days` asks this account for: those days, and before them whatever is not landed yet.

        All of its history the first time. An account behind the run is asked from what its platform may still have
        revised when it was last pulled, and by a run over what platforms revise for all that its own does. Days that
        have not begun there are its newest ones.
        """
        ahead = max(days.last - self.today, timedelta())
        first, last = days.first - ahead, days.last - ahead
        if self.through is None:
            first, last = min(first, self.today - timedelta(days=self.history_days - 1)), self.today
        elif self.through < first - timedelta(days=1):
            first = self.through - timedelta(days=self.revised_days - 1)
        elif last == self.today and first <= last - timedelta(days=REVISED_DAYS - 1):
            first = min(first, last - timedelta(days=self.revised_days - 1))
        return DayRange(max(FIRST_DAY, first), last)

    def widened(self, days: DayRange, date_from: date | None, date_to: date | None) -> DayRange:
        """`days` and those between them and the dates that somebody asked for, but for what no platform keeps."""
        oldest = max(FIRST_DAY, self.today - timedelta(days=KEPT_DAYS))
        if date_from is None or date_to is None or date_to < oldest:
            return days
        return DayRange(min(days.first, max(oldest, date_from)), max(days.last, date_to))


def days_to_pull(todays: Iterable[date], *, now: date, revised_days: int = REVISED_DAYS) -> DayRange:
    """The days that a run is over: the newest `revised_days` of the account that is furthest; without any, `now`."""
    last = max(todays, default=None)
    if last is None:
        return DayRange(now, now)
    return DayRange(max(FIRST_DAY, last - timedelta(days=revised_days - 1)), last)


def days_ahead(today: date, demo_today: date) -> int:
    """How many days past the last complete UTC day may be pulled.

    Two, for east of Greenwich it is tomorrow already; more where the demo's clock is ahead of the machine's.
    """
    return max(2, (demo_today - today).days + 1)


DAYS = dg.DailyPartitionsDefinition(
    start_date=FIRST_DAY.isoformat(), end_offset=days_ahead(datetime.now(UTC).date(), load().demo_today)
)
