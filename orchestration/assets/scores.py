"""marts/ad_likelihoods: the ranker's newest word on every scored ad, beside the marts that dbt builds."""

import time

import dagster as dg

from orchestration.assets.warehouse import mart_keys
from orchestration.likelihoods import NAME, write_likelihoods
from orchestration.resources import Deployment, Warehouse
from orchestration.warehouse_state import require_finished


@dg.asset(
    key=["marts", NAME],
    deps=mart_keys({"entities": None, "profiles": None}),
    group_name="marts",
    kinds={"duckdb"},
    pool="warehouse",
)
def ad_likelihoods(deployment: Deployment, warehouse: Warehouse) -> dg.MaterializeResult[None]:
    """One row per profile, score window, scored ad and measure; none where no ranker was trained."""
    started = time.monotonic()
    require_finished(deployment.settings)
    rows = write_likelihoods(deployment.settings)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": rows,
            "run": warehouse.token,
            "seconds": round(time.monotonic() - started, 2),
        }
    )
