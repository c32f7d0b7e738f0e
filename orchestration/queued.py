"""Runs that wait for their turn: what is there by then they take along, so that a second one would do nothing more."""

from __future__ import annotations

from collections.abc import Collection

import dagster as dg


def is_queued(instance: dg.DagsterInstance, jobs: Collection[str], *, by: str | None = None) -> bool:
    """Whether a run of all that one of these jobs does waits to begin; with `by`, one that this schedule asked for."""
    tags = {"dagster/schedule_name": by} if by else {}
    waiting = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.QUEUED], tags=tags))
    return any(run.job_name in jobs and _is_whole(run) for run in waiting)


def _is_whole(run: dg.DagsterRun) -> bool:
    """Not for a part chosen on Dagster's pages, nor one that goes on where an earlier run failed."""
    return not (run.asset_selection or run.asset_check_selection or run.step_keys_to_execute)
