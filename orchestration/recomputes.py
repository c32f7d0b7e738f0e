"""Requests for figures anew: which build takes them up, and what becomes of them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import sqlalchemy as sa

from api.db import now, transaction
from api.models import Recompute
from api.models.attribution import OPEN

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def build_of(run: dg.DagsterRun) -> str:
    """The id of the build that a run belongs to: its own, or that of the run it is a retry of."""
    return run.root_run_id or run.run_id


def begin(url: str, build_id: str) -> int:
    """Take up every open request, before the build reads anything; returns how many.

    Only one run at a time may write the warehouse, so a request that another build holds was left by a dead one.
    """
    return _move(url, OPEN, Recompute.id.is_not(None), status="running", build_id=build_id)


def publish(url: str, build_id: str, snapshot_id: str) -> int:
    """The build's snapshot is live: what it took up is answered, also by a retry of a run that had failed."""
    ours = Recompute.build_id == build_id
    return _move(url, ("running", "failed"), ours, status="published", snapshot_id=snapshot_id, finished_at=now())


def fail(url: str, build_id: str) -> int:
    """The build ended without a snapshot."""
    return _move(url, ("running",), Recompute.build_id == build_id, status="failed", finished_at=now())


def fail_abandoned(url: str, instance: dg.DagsterInstance) -> int:
    """Fail what a build holds of which no run is going on or waiting; returns how many."""
    with transaction(url) as session:
        running = sa.select(Recompute.build_id).where(Recompute.status == "running")
        builds = {build_id for build_id in session.scalars(running) if build_id}
    return sum(fail(url, build_id) for build_id in builds if not _is_going_on(instance, build_id))


def newest_queued(url: str) -> int:
    """When the newest request was queued, in microseconds since 1970; 0 when none is."""
    with transaction(url) as session:
        newest = session.scalar(sa.select(sa.func.max(Recompute.requested_at)).where(Recompute.status == "queued"))
    return microseconds(newest) if newest else 0


def microseconds(at: datetime) -> int:
    """A moment as microseconds since 1970."""
    return (at - EPOCH) // at.resolution


def _is_going_on(instance: dg.DagsterInstance, build_id: str) -> bool:
    found = instance.get_run_group(build_id) if instance.has_run(build_id) else None
    return found is not None and any(not run.is_finished for run in found[1])


def _move(url: str, from_: Collection[str], of: sa.ColumnElement[bool], **to: Any) -> int:
    moved = sa.update(Recompute).where(Recompute.status.in_(from_), of).values(**to)
    with transaction(url) as session:
        result: sa.CursorResult[Any] = session.execute(moved, execution_options={"synchronize_session": False})  # type: ignore[assignment]
        return result.rowcount
