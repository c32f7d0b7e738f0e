"""landing/erasures: who asked to be forgotten, and what was archived, leaves every file before the models read them."""

import time

import dagster as dg

from orchestration.erasure import erase_waiting
from orchestration.purge import purge_waiting
from orchestration.resources import Deployment, Warehouse
from orchestration.says_why import says_why
from orchestration.store_purge import forget_stores

LANDINGS = ("app", "files", "ad_platform", "store", "payments")


@dg.asset(
    key=["landing", "erasures"],
    deps=[dg.AssetKey(["landing", source]) for source in LANDINGS],
    group_name="erasure",
    kinds={"parquet"},
    pool="warehouse",
)
@says_why
def erasures(deployment: Deployment, warehouse: Warehouse) -> dg.MaterializeResult[None]:
    """Files of archived profiles are removed; whoever waits to be erased is renamed at random. Counts only."""
    started = time.monotonic()
    # of files that come back later nobody would take the person out again
    lake = deployment.lake_to_land_in()
    purged = purge_waiting(deployment.settings, lake)
    stores = forget_stores(deployment.settings, lake)
    done = erase_waiting(deployment.settings, lake)
    return dg.MaterializeResult(
        metadata={
            "erasures": len(done),
            "profiles purged": len(purged),
            "stores forgotten": len(stores),
            "run": warehouse.token,
            "seconds": round(time.monotonic() - started, 2),
        }
    )
