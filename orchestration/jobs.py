"""What can be run: all of it, the pulls alone, the models alone, or the ranker alone."""

from __future__ import annotations

import dagster as dg

LANDINGS = dg.AssetSelection.groups("landing")
PULLED = dg.AssetSelection.assets(["landing", "ad_platform"], ["landing", "store"], ["landing", "payments"])
DELIVERY = dg.AssetSelection.assets(["landing", "ad_platform"])
# fitting is for the day, and its failure must not keep a build from publishing
RANKED = dg.AssetSelection.groups("ranking")
BUILT = dg.AssetSelection.all() - RANKED


def _job(name: str, selection: dg.AssetSelection, description: str, *, retries: int) -> dg.UnresolvedAssetJobDefinition:
    return dg.define_asset_job(
        name,
        selection=selection,
        description=description,
        tags={"dagster/max_retries": str(retries)},
    )


NIGHTLY = _job("nightly", BUILT, "Everything but the ranker: pull, land, check, model, publish.", retries=2)
HOURLY_DELIVERY = _job(
    "hourly_delivery",
    DELIVERY | (BUILT - LANDINGS),
    "Delivery of the last days, then the models and a new snapshot.",
    retries=1,
)
SYNC = _job("sync", PULLED, "Pull every connection into the lake.", retries=1)
BUILD = _job("build", BUILT - PULLED, "What was sent and dropped, then models, checks, snapshot.", retries=1)
RANKING = _job("ranking", RANKED, "Fit, look and tell; what is told goes out with the next build.", retries=0)
JOBS = [NIGHTLY, HOURLY_DELIVERY, SYNC, BUILD, RANKING]
