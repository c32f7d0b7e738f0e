"""How long Dagster's books keep a run: without an end they grow by some 5 MB with each build, every hour one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import dagster as dg
import sqlalchemy as sa
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, SqlEventLogStorageTable

from touchledger.settings import Settings

ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
# a sensor has a minute, and taking out a run takes some hundredths of a second
AT_ONCE = 100
# of a deployment that builds every minute, days alone would keep 200 GB; hourly builds with some by request are fewer
MOST_A_DAY = 60


def forget(instance: dg.DagsterInstance, settings: Settings, at: datetime) -> int:
    """Take runs begun over `run_history_days` before `at` out of Dagster's books, `AT_ONCE` at most; returns how many.

    So are those that came before the newest `MOST_A_DAY` for each of these days.
    A run that is still to end stays, and so does one that tells the last of an asset, of one of its days or of a check:
    Dagster's pages know by it what is there.
    """
    if not settings.run_history_days:
        return 0
    before = at.astimezone(UTC) - timedelta(days=settings.run_history_days)
    old = [*_beyond(instance, MOST_A_DAY * settings.run_history_days, before)]
    old += instance.get_runs(dg.RunsFilter(statuses=ENDED, created_before=before))
    storage = instance.event_log_storage
    if not old or not isinstance(storage, SqlEventLogStorage):
        return 0
    needed = _telling_the_last(storage)
    gone = [run.run_id for run in reversed(old) if run.run_id not in needed][:AT_ONCE]
    for run_id in gone:
        instance.delete_run(run_id)
        instance.compute_log_manager.delete_logs(prefix=[run_id])
    with storage.index_connection() as connection:
        # which Dagster leaves there
        connection.execute(AssetCheckExecutionsTable.delete().where(AssetCheckExecutionsTable.c.run_id.in_(gone)))
    return len(gone)


def _beyond(instance: dg.DagsterInstance, most: int, since: datetime) -> Sequence[dg.DagsterRun]:
    """Runs begun `since` that ended and came before the newest `most` of all that did, newest first."""
    newest = instance.get_run_ids(dg.RunsFilter(statuses=ENDED), limit=most)
    if len(newest) < most:
        return []
    return instance.get_runs(dg.RunsFilter(statuses=ENDED, created_after=since), cursor=newest[-1])


def _telling_the_last(storage: SqlEventLogStorage) -> set[str]:
    event, check = SqlEventLogStorageTable.c, AssetCheckExecutionsTable.c
    materialized = event.dagster_event_type == dg.DagsterEventType.ASSET_MATERIALIZATION.value
    newest = sa.select(sa.func.max(event.id)).where(materialized).group_by(event.asset_key, event.partition)
    judged = sa.select(sa.func.max(check.id)).group_by(check.asset_key, check.check_name, check.partition)
    with storage.index_connection() as connection:
        made = connection.scalars(sa.select(event.run_id).where(event.id.in_(newest)))
        told = connection.scalars(sa.select(check.run_id).where(check.id.in_(judged)))
        return {*made, *told}
