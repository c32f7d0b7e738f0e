"""The landing of what the deployment was sent: which runs take up requests for figures anew."""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg
import pytest

from api.db import transaction
from api.models import Recompute
from orchestration.assets.raw_app import answers
from tests.factories import accounts
from touchledger.settings import Settings

LANDING = dg.AssetKey(["landing", "app"])


def test_a_landing_alone_leaves_requests_to_the_build_that_publishes(settings: Settings) -> None:
    # it took them from the build that was under way, and they failed though its snapshot came
    from orchestration.definitions import defs

    url = settings.operational_url
    with transaction(url) as session:
        for name, status, build in (("a", "running", "a build under way"), ("b", "queued", None)):
            asked = datetime(2026, 11, 20, 12, tzinfo=UTC)
            profile = accounts.profile(url, name=name).id
            session.add(Recompute(profile_id=profile, status=status, build_id=build, requested_at=asked))
    job = defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(instance=instance, asset_selection=[LANDING]).success
    with transaction(url) as session:
        found = {(one.status, one.build_id) for one in session.query(Recompute)}
    assert found == {("running", "a build under way"), ("queued", None)}


@pytest.mark.parametrize(
    ("steps", "answered"),
    [
        (None, True),
        (["landing__app", "warehouse", "published"], True),
        (["landing__app"], False),
        (["landing__app", "published"], False),
    ],
)
def test_a_run_of_which_steps_are_done_again_answers_requests_where_it_builds_and_publishes(
    steps: list[str] | None, answered: bool
) -> None:
    assert answers(dg.DagsterRun("build", step_keys_to_execute=steps)) is answered


def test_a_run_of_chosen_assets_answers_requests_where_no_model_is_left_out() -> None:
    from orchestration.definitions import defs

    every = frozenset(defs.resolve_asset_graph().get_all_asset_keys())
    assert answers(dg.DagsterRun("__ASSET_JOB", asset_selection=every))
    # as a command runs a whole job
    assert answers(dg.DagsterRun("build", asset_selection=frozenset()))
    assert not answers(dg.DagsterRun("__ASSET_JOB", asset_selection=every - {dg.AssetKey(["marts", "credit_daily"])}))
    assert not answers(dg.DagsterRun("__ASSET_JOB", asset_selection=every - {dg.AssetKey(["published"])}))
