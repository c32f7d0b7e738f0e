"""When things run. Times are UTC; each says why it is that time."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg

from orchestration.jobs import HOURLY_DELIVERY, NIGHTLY, RANKING
from orchestration.partitions import LEAVES_SILENT
from orchestration.queued import is_queued
from orchestration.sync import pull_range
from touchledger.settings import load

# platforms restate the last days all day long; the whole 28 are pulled once a night
RECENT_DAYS = 3


def _schedule(
    job: dg.UnresolvedAssetJobDefinition, cron: str
) -> Callable[[Callable[[], dg.RunRequest]], dg.ScheduleDefinition]:
    """A schedule that is on from the start, and whose docstring Dagster's pages show.

    While its last run waits for its turn it asks for no other: behind a run of hours they would stand in a row.
    """

    def made(request: Callable[[], dg.RunRequest]) -> dg.ScheduleDefinition:
        name = request.__name__

        def due(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
            if is_queued(context.instance, {job.name}, by=name):
                return dg.SkipReason("the run of the time before still waits for its turn")
            return request()

        return dg.schedule(
            job=job,
            name=name,
            cron_schedule=cron,
            default_status=dg.DefaultScheduleStatus.RUNNING,
            description=request.__doc__,
        )(due)

    return made


# 05:30 is before work begins in Europe and after midnight in New York; a day that is not over then, farther west, gets
# its last hours by the hourly runs, and its likelihoods from the next ranking
@_schedule(NIGHTLY, "30 5 * * *")
def nightly() -> dg.RunRequest:
    """The night's run over the days that may still be revised."""
    return dg.RunRequest(tags=pull_range(load()).tags)


# a quarter past: the platforms close an hour's figures some minutes after it ends
@_schedule(HOURLY_DELIVERY, "15 * * * *")
def hourly_delivery() -> dg.RunRequest:
    """Spend of the last days, so that a budget decision does not wait for the night."""
    return dg.RunRequest(tags={**pull_range(load(), revised_days=RECENT_DAYS).tags, LEAVES_SILENT: "yes"})


# half an hour after the night's build and before the next hour's, which publishes what is told
@_schedule(RANKING, "45 6 * * *")
def daily_ranking() -> dg.RunRequest:
    """Likelihood and wear of the ads, once scores of a new day are there."""
    return dg.RunRequest()


SCHEDULES = [nightly, hourly_delivery, daily_ranking]
