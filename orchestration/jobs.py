"""What can be run: all of it, the pulls alone, or the models alone."""

from __future__ import annotations

import dagster as dg

MAX_RUNTIME_SECONDS = 4 * 3600

LANDINGS = dg.AssetSelection.groups("landing")
PULLED = dg.AssetSelection.assets(["landing", "ad_platform"], ["landing", "store"], ["landing", "payments"])
DELIVERY = dg.AssetSelection.assets(["landing", "ad_platform"])


def _job(name: str, selection: dg.AssetSelection, description: str, *, retries: int) -> dg.UnresolvedAssetJobDefinition:
    return dg.define_asset_job(
        name,
        selection=selection,
        description=description,
        tags={"dagster/max_runtime": str(MAX_RUNTIME_SECONDS), "dagster/max_retries": str(retries)},
    )


NIGHTLY = _job("nightly", dg.AssetSelection.all(), "Everything: pull, land, check, model, publish.", retries=2)
HOURLY_DELIVERY = _job(
    "hourly_delivery",
    DELIVERY | (dg.AssetSelection.all() - LANDINGS),
    "Delivery of the last days, then the models and a new snapshot.",
    retries=1,
)
SYNC = _job("sync", PULLED, "Pull every connection into the lake.", retries=1)
BUILD = _job(
    "build", dg.AssetSelection.all() - PULLED, "What was sent and dropped, then models, checks, snapshot.", retries=1
)
JOBS = [NIGHTLY, HOURLY_DELIVERY, SYNC, BUILD]
