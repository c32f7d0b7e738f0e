"""Which connections a run asks, and for how long."""

from __future__ import annotations

import math

import dagster as dg
import pytest

from api.db import now, transaction
from api.models import ConnectionSync
from orchestration.assets.published import KEY as PUBLISHED
from orchestration.assets.pulled import longest_of
from orchestration.assets.raw_store import landing_store
from orchestration.definitions import defs
from orchestration.lake import Lake
from orchestration.partitions import LEAVES_SILENT, ONLY_QUEUED
from orchestration.pull_round import UNREADABLE
from orchestration.resources import Deployment
from orchestration.silence import RESTING
from tests.factories import accounts, exports
from touchledger.settings import Settings


@pytest.mark.parametrize(
    ("tags", "told"),
    [({}, [UNREADABLE]), ({ONLY_QUEUED: "yes"}, []), ({LEAVES_SILENT: "yes"}, [RESTING])],
)
def test_a_run_asks_all_those_that_wait_or_those_that_do_not_rest(
    settings: Settings, tags: dict[str, str], told: list[str]
) -> None:
    profile = accounts.profile(settings.operational_url)
    # without a token nobody is asked
    silent = {"status_reason": "timeout", "token": ""}
    made = exports.connection(settings.operational_url, profile, kind="store", provider="shopify", **silent)
    with transaction(settings.operational_url) as session:
        for _ in range(3):
            ended = {"status": "failed", "error": "timeout", "finished_at": now()}
            session.add(ConnectionSync(connection_id=made.id, profile_id=profile.id, **ended))
    lake = Lake(settings.lake)
    lake.prepare()
    # without any file the lake would count as lost
    lake.land(dataset="campaigns", profile_id="p", source="meta", batch="before", records=[])
    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize([landing_store], tags=tags, instance=instance, resources={"deployment": Deployment()})
    (landed,) = run.asset_materializations_for_node("landing__store")
    assert list(landed.metadata["failed connections"].value.values()) == told
    (verdict,) = run.get_asset_check_evaluations()
    assert (verdict.passed, "did not come" in (verdict.description or "")) == (not told, bool(told))


@pytest.mark.parametrize(("job", "longest"), [("nightly", 3600), ("hourly_delivery", 3600), ("sync", math.inf)])
def test_a_run_that_publishes_pulls_for_a_quarter_of_its_time(job: str, longest: float) -> None:
    assert longest_of(defs.resolve_job_def(job), 4) == longest


def test_a_backfill_that_publishes_nothing_pulls_to_its_end() -> None:
    whole = defs.resolve_implicit_global_asset_job_def()
    assert longest_of(whole.get_subset(asset_selection={PUBLISHED, landing_store.key}), 4) == 3600
    assert longest_of(whole.get_subset(asset_selection={landing_store.key}), 4) == math.inf
