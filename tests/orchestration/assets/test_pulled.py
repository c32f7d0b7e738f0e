"""Which connections a run asks, and for how long."""

from __future__ import annotations

import math

import dagster as dg
import pytest

from orchestration.assets.published import KEY as PUBLISHED
from orchestration.assets.pulled import longest_of
from orchestration.assets.raw_store import landing_store
from orchestration.definitions import defs
from orchestration.lake import Lake
from orchestration.partitions import ONLY_QUEUED
from orchestration.resources import Deployment
from tests.factories import accounts, exports
from touchledger.settings import Settings


@pytest.mark.parametrize(("tags", "asked"), [({}, 1), ({ONLY_QUEUED: "yes"}, 0)])
def test_a_run_for_syncs_that_wait_asks_no_other_connection(
    settings: Settings, tags: dict[str, str], asked: int
) -> None:
    profile = accounts.profile(settings.operational_url)
    # without a token nobody is asked
    exports.connection(settings.operational_url, profile, kind="store", provider="shopify", token="")
    lake = Lake(settings.lake)
    lake.prepare()
    # without any file the lake would count as lost
    lake.land(dataset="campaigns", profile_id="p", source="meta", batch="before", records=[])
    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize([landing_store], tags=tags, instance=instance, resources={"deployment": Deployment()})
    (landed,) = run.asset_materializations_for_node("landing__store")
    assert landed.metadata["connections"].value == asked


@pytest.mark.parametrize(("job", "longest"), [("nightly", 3600), ("hourly_delivery", 3600), ("sync", math.inf)])
def test_a_run_that_publishes_pulls_for_a_quarter_of_its_time(job: str, longest: float) -> None:
    assert longest_of(defs.resolve_job_def(job), 4) == longest


def test_a_backfill_that_publishes_nothing_pulls_to_its_end() -> None:
    whole = defs.resolve_implicit_global_asset_job_def()
    assert longest_of(whole.get_subset(asset_selection={PUBLISHED, landing_store.key}), 4) == 3600
    assert longest_of(whole.get_subset(asset_selection={landing_store.key}), 4) == math.inf
