"""landing/ad_platform: entities, and delivery by day; a backfill is the same code over more days."""

import time
from datetime import date, timedelta

import dagster as dg

from orchestration.assets.landing_metadata import sync_metadata
from orchestration.partitions import DAYS, DayRange
from orchestration.resources import Deployment
from orchestration.sync import pull_range, sync_kind


@dg.asset(
    key=["landing", "ad_platform"],
    group_name="landing",
    kinds={"parquet"},
    partitions_def=DAYS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    retry_policy=dg.RetryPolicy(max_retries=1, delay=30),
    freshness_policy=dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26)),
)
def landing_ad_platform(context: dg.AssetExecutionContext, deployment: Deployment) -> dg.MaterializeResult[None]:
    """Accounts, campaigns, ad sets, ads and creatives as they are now; delivery and reach of the run's days.

    An account that lacks earlier days brings them too; those are told as partitions of their own. A run that names no
    days is over the newest that may still be revised, and tells all that came so.
    """
    started = time.monotonic()
    named = _named(context)
    pulls = sync_kind(deployment.settings, deployment.lake, "ad_platform", named or pull_range(deployment.settings))
    metadata = sync_metadata(pulls, started)
    for day in sorted({day for pull in pulls for day in pull.delivered}):
        if named is None or not named.first <= day <= named.last:
            context.log_event(dg.AssetMaterialization(context.asset_key, metadata=metadata, partition=day.isoformat()))
    return dg.MaterializeResult(metadata=metadata)


def _named(context: dg.AssetExecutionContext) -> DayRange | None:
    """The days that the run names; a job launched from Dagster's pages or its command need not name any."""
    if not (context.has_partition_key or context.has_partition_key_range):
        return None
    keys = context.partition_key_range
    return DayRange(date.fromisoformat(keys.start), date.fromisoformat(keys.end))
