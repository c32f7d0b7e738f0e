"""landing/store: the shops' catalogues and orders."""

import time
from collections.abc import Iterator
from datetime import timedelta

import dagster as dg

from orchestration.assets.connections_check import connections_check, connections_check_spec
from orchestration.assets.landing_metadata import sync_metadata
from orchestration.assets.pulled import pulled
from orchestration.resources import Deployment
from orchestration.says_why import says_why


@dg.asset(
    key=["landing", "store"],
    group_name="landing",
    kinds={"parquet"},
    check_specs=[connections_check_spec("landing", "store")],
    freshness_policy=dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26)),
)
@says_why
def landing_store(context: dg.AssetExecutionContext, deployment: Deployment) -> Iterator[dg.MaterializeResult[None]]:
    """Products and variants as they are now; orders and their lines that changed since the last pull."""
    started = time.monotonic()
    pulls = pulled(context, deployment, "store")
    verdict = connections_check(deployment, "store", pulls)
    yield dg.MaterializeResult(metadata=sync_metadata(pulls, started), check_results=[verdict])
