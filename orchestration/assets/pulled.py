"""What the assets that pull share: which connections a run asks, and for how long."""

from __future__ import annotations

import math

import dagster as dg

from orchestration.assets.published import KEY as PUBLISHED
from orchestration.assets.tried_again import tried_again
from orchestration.partitions import LEAVES_SILENT, ONLY_QUEUED, DayRange
from orchestration.pulls import Pull
from orchestration.resources import Deployment
from orchestration.sync import sync_kind

# of the longest that a run may take: three assets may pull one after the other, and the models come behind them
SHARE = 1 / 4


def pulled(
    context: dg.AssetExecutionContext, deployment: Deployment, kind: str, days: DayRange | None = None
) -> list[Pull]:
    """What became of the connections of a kind that this run asks.

    A run that goes on to publish waits for none of them without end, since everybody's figures wait behind it.
    """
    lake = deployment.lake_to_land_in()
    longest = longest_of(context.job_def, deployment.settings.run_hours)
    tags = context.run.tags
    with tried_again(context.retry_number):
        return sync_kind(
            deployment.settings,
            lake,
            kind,
            days,
            only_queued=ONLY_QUEUED in tags,
            leaves_silent=LEAVES_SILENT in tags,
            longest=longest,
        )


def longest_of(job: dg.JobDefinition, run_hours: int) -> float:
    """For how many seconds each asset of a job may pull; without end where nothing is published behind it."""
    return run_hours * 3600 * SHARE if PUBLISHED in job.asset_layer.selected_asset_keys else math.inf
