"""landing/ad_platform: entities, and delivery by day; a backfill is the same code over more days."""

import time
from collections.abc import Collection, Iterator
from datetime import date, timedelta

import dagster as dg

from connectors.ad_platform import days_of
from orchestration.assets.connections_check import connections_check, connections_check_spec
from orchestration.assets.landing_metadata import sync_metadata
from orchestration.assets.pulled import pulled
from orchestration.partitions import DAYS, DayRange
from orchestration.resources import Deployment
from orchestration.says_why import says_why
from orchestration.sync import pull_range


@dg.asset(
    key=["landing", "ad_platform"],
    group_name="landing",
    kinds={"parquet"},
    check_specs=[connections_check_spec("landing", "ad_platform")],
    partitions_def=DAYS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    freshness_policy=dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26)),
)
@says_why
def landing_ad_platform(
    context: dg.AssetExecutionContext, deployment: Deployment
) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """Accounts, campaigns, ad sets, ads, creatives and studies as they are now; delivery and reach of the run's days.

    An account that lacks earlier days brings them too; those are told as partitions of their own. A run that names no
    days is over the newest that may still be revised, and tells all that came so. A backfill fails over a day that came
    from no account; a run that goes on with other assets does not.
    """
    started = time.monotonic()
    named = _named(context)
    days = named or pull_range(deployment.settings)
    pulls = pulled(context, deployment, "ad_platform", days)
    verdict, metadata = connections_check(deployment, "ad_platform", pulls), sync_metadata(pulls, started)
    came = {day for pull in pulls for day in pull.delivered}
    missing = _missing(days, came) if all(pull.failure for pull in pulls) and not verdict.passed else []
    # what a run goes on to is built from what the other sources brought, whatever is missing here
    is_failed = bool(missing) and context.run.asset_selection == {context.asset_key}
    for day in sorted(came):
        if is_failed or named is None or not named.first <= day <= named.last:
            context.log_event(dg.AssetMaterialization(context.asset_key, metadata=metadata, partition=day.isoformat()))
    if is_failed:
        yield verdict
        told = f"Days that came from no account: {len(missing)}, {missing[0]} to {missing[-1]}. {verdict.description}"
        # the provider was waited for already, and what its owner must do takes longer
        raise dg.Failure(told, metadata=metadata, allow_retries=False)
    yield dg.MaterializeResult(metadata=metadata, check_results=[verdict])


def _missing(days: DayRange, came: Collection[date]) -> list[date]:
    return [day for day, _ in days_of(days.first, days.last) if day not in came]


def _named(context: dg.AssetExecutionContext) -> DayRange | None:
    """The days that the run names; a job launched from Dagster's pages or its command need not name any.

    Raises dg.Failure where they are none, or not all there yet: Dagster would tell those as done that are.
    """
    if not (context.has_partition_key or context.has_partition_key_range):
        return None
    keys, newest = context.partition_key_range, str(DAYS.get_last_partition_key())
    if not keys.start <= keys.end <= newest:
        told = f"{keys.start} to {keys.end} cannot be pulled: name the first day and the last, up to {newest}"
        raise dg.Failure(told, allow_retries=False)
    return DayRange(date.fromisoformat(keys.start), date.fromisoformat(keys.end))
