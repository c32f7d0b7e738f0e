"""Which runs Dagster tries again."""

from __future__ import annotations

import dagster as dg

from orchestration.pipeline import run_job
from touchledger.settings import Settings


def test_a_run_that_a_command_started_is_not_to_be_retried(settings: Settings) -> None:
    outcome = run_job(settings, "sync")
    with dg.DagsterInstance.get() as instance:
        run = instance.get_run_by_id(outcome.run_id)
    assert run is not None
    assert run.tags["dagster/max_retries"] == "0"
