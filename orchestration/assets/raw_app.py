"""landing/app: what this deployment itself was sent, and the settings its figures are computed under."""

import time
from datetime import timedelta

import dagster as dg

from orchestration.app_sets import land_app_sets
from orchestration.assets.landing_metadata import landing_metadata
from orchestration.assets.published import KEY as PUBLISHED
from orchestration.assets.warehouse import warehouse_assets
from orchestration.collected import land_collected
from orchestration.gathered import gather_unread
from orchestration.ingested import land_ingested
from orchestration.lake_owners import require_its_database
from orchestration.recomputes import begin, build_of
from orchestration.resources import Deployment
from orchestration.says_why import says_why


@dg.asset(
    key=["landing", "app"],
    group_name="landing",
    kinds={"parquet"},
    freshness_policy=dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26)),
)
@says_why
def landing_app(context: dg.AssetExecutionContext, deployment: Deployment) -> dg.MaterializeResult[None]:
    """What the API, its hooks and the collector accepted since the last landing, and settings, whole each time.

    Touches, conversions, identities, names, ad referrals, page events and a store's deletions are one batch each.
    Profiles with their hosts, goals and payers, what analyses found in creatives, and the calendar replace their last.
    Many small batches are put together.
    """
    started = time.monotonic()
    url = deployment.settings.operational_url
    deployment.lake.prepare()
    require_its_database(url, deployment.lake)
    lake = deployment.lake_to_land_in()
    if answers(context.run):
        # what is asked for from here on may come too late for this build
        begin(url, build_of(context.run))
    landings = [*land_ingested(url, lake), *land_collected(url, lake), *land_app_sets(url, lake)]
    gather_unread(deployment.settings)
    return dg.MaterializeResult(metadata=landing_metadata(landings, started))


def answers(run: dg.DagsterRun) -> bool:
    """Whether the run builds all models and publishes them: whoever asked for figures gets none of a landing alone."""
    steps, chosen = run.step_keys_to_execute, run.asset_selection
    goes_on = steps is None or {warehouse_assets.op.name, *PUBLISHED.path} <= set(steps)
    # of a whole job it is None, or empty where a command runs it
    return goes_on and (not chosen or chosen >= {*warehouse_assets.keys, PUBLISHED})
