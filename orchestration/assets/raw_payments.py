"""landing/payments: what payment processors say was paid, refunded and renewed."""

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
    key=["landing", "payments"],
    group_name="landing",
    kinds={"parquet"},
    check_specs=[connections_check_spec("landing", "payments")],
    freshness_policy=dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=26)),
)
@says_why
def landing_payments(context: dg.AssetExecutionContext, deployment: Deployment) -> Iterator[dg.MaterializeResult[None]]:
    """Payments and refunds, at first all and later those of the whole weeks that may still settle.

    Renewals and disputes are told anew each time, so that a pull brings more rows than are new.
    """
    started = time.monotonic()
    pulls = pulled(context, deployment, "payments")
    verdict = connections_check(deployment, "payments", pulls)
    yield dg.MaterializeResult(metadata=sync_metadata(pulls, started), check_results=[verdict])
