"""landing/erasures: people who asked to be forgotten leave every file and row before the models read them."""

import time

import dagster as dg

from orchestration.erasure import erase_waiting
from orchestration.resources import Deployment, Warehouse

LANDINGS = ("app", "files", "ad_platform", "store", "payments")


@dg.asset(
    key=["landing", "erasures"],
    deps=[dg.AssetKey(["landing", source]) for source in LANDINGS],
    group_name="erasure",
    kinds={"parquet"},
    pool="warehouse",
)
def erasures(deployment: Deployment, warehouse: Warehouse) -> dg.MaterializeResult[None]:
    """Whoever waits to be erased is renamed at random in the lake, the inbox and the database; counts only."""
    started = time.monotonic()
    done = erase_waiting(deployment.settings, deployment.lake)
    return dg.MaterializeResult(
        metadata={"erasures": len(done), "run": warehouse.token, "seconds": round(time.monotonic() - started, 2)}
    )
