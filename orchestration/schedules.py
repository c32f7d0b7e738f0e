"""When things run. Times are UTC; each says why it is that time."""

from __future__ import annotations

import dagster as dg

from orchestration.jobs import HOURLY_DELIVERY, NIGHTLY, RANKING
from orchestration.sync import pull_range
from touchledger.settings import load

# platforms restate the last days all day long; the whole 28 are pulled once a night
RECENT_DAYS = 3


# 05:30 is before work begins in Europe and after midnight in New York; a day that is not over then, farther west, gets
# its last hours by the hourly runs, and its likelihoods from the next ranking
@dg.schedule(job=NIGHTLY, cron_schedule="30 5 * * *", default_status=dg.DefaultScheduleStatus.RUNNING)
def nightly() -> dg.RunRequest:
    """The night's run over the days that may still be revised."""
    return dg.RunRequest(tags=pull_range(load()).tags)


# a quarter past: the platforms close an hour's figures some minutes after it ends
@dg.schedule(job=HOURLY_DELIVERY, cron_schedule="15 * * * *", default_status=dg.DefaultScheduleStatus.RUNNING)
def hourly_delivery() -> dg.RunRequest:
    """Spend of the last days, so that a budget decision does not wait for the night."""
    return dg.RunRequest(tags=pull_range(load(), revised_days=RECENT_DAYS).tags)


# half an hour after the night's build and before the next hour's, which publishes what is told
@dg.schedule(job=RANKING, cron_schedule="45 6 * * *", default_status=dg.DefaultScheduleStatus.RUNNING)
def daily_ranking() -> dg.RunRequest:
    """Likelihood and wear of the ads, once scores of a new day are there."""
    return dg.RunRequest()


SCHEDULES = [nightly, hourly_delivery, daily_ranking]
