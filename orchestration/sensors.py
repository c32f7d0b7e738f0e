"""What starts a build between schedules: new events, files dropped into the inbox, and requests for figures anew."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import datetime

import dagster as dg
import sqlalchemy as sa

from api.db import now, transaction
from api.models import IngestedRecord
from orchestration import purge
from orchestration.erasure import waiting
from orchestration.history import forget
from orchestration.inbox import Dropped, waiting_files
from orchestration.instance import fail_orphans, is_orphan
from orchestration.jobs import BUILD, HOURLY_DELIVERY, NIGHTLY
from orchestration.partitions import ONLY_QUEUED
from orchestration.queued import is_queued
from orchestration.readers import legible
from orchestration.recomputes import fail_abandoned, microseconds, newest_queued
from orchestration.sync import pull_range, queued_syncs
from touchledger.settings import LOOK_EVERY_SECONDS, Settings, load

# a file still being copied into the inbox is left alone until it has not changed for this long
SETTLE_SECONDS = 10.0
INTERVAL_SECONDS = LOOK_EVERY_SECONDS
# the jobs whose runs take out who waits to be erased
ERASING = {job.name for job in (BUILD, NIGHTLY, HOURLY_DELIVERY)}
UNDER_WAY = [dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]


Look = Callable[[dg.SensorEvaluationContext], dg.SensorResult | dg.SkipReason]


def _sensor(
    job: dg.UnresolvedAssetJobDefinition | None, *, every_seconds: int = INTERVAL_SECONDS
) -> Callable[[Look], dg.SensorDefinition]:
    """A sensor that looks from the start on, and whose docstring Dagster's pages show."""

    def made(look: Look) -> dg.SensorDefinition:
        return dg.sensor(
            job=job,
            minimum_interval_seconds=every_seconds,
            default_status=dg.DefaultSensorStatus.RUNNING,
            description=look.__doc__,
        )(look)

    return made


def decide(unlanded: int, files: Iterable[str], last: str | None, *, asked: int = 0) -> str | None:
    """The key of a build that is due, or None.

    From the times of the newest unlanded record and of the newest queued request, 0 for none, and the waiting files.
    The key is the state that was seen. A state starts one build: one that fails is not started for ever.
    """
    waiting = hashlib.sha256("".join(sorted(files)).encode()).hexdigest()[:16] if files else ""
    seen_record, seen_files, seen_asked = [*(last or "0").split(":"), "", ""][:3]
    # another one, not a later one: the clock may have been set back, and what came first be committed last
    is_due = (
        unlanded not in (0, int(seen_record))
        or waiting not in ("", seen_files)
        or asked not in (0, int(seen_asked or 0))
    )
    return f"{unlanded or seen_record}:{waiting}:{asked or seen_asked or 0}" if is_due else None


def settled(files: Iterable[Dropped], at: float) -> list[str]:
    """Where and what the files are that nobody has changed for a while before `at` (epoch seconds).

    A file that failed is another one once it was moved or renamed.
    """
    return [f"{legible(file.path)} {file.sha256}" for file in files if _is_settled(file, at)]


def _is_settled(file: Dropped, at: float) -> bool:
    try:
        return at - file.path.stat().st_mtime >= SETTLE_SECONDS
    except FileNotFoundError:
        return False


def newest_unlanded(settings: Settings) -> int:
    """When the newest accepted record came that is in no raw file yet, in microseconds since 1970; 0 for none.

    Its number would not do: SQLite gives that of the last row again once the row is gone, with an archived profile.
    """
    query = sa.select(IngestedRecord.received_at).where(IngestedRecord.landed_batch.is_(None))
    with transaction(settings.operational_url) as session:
        # in the order of an index, Postgres reads all that ever came to find that nothing waits
        newest = session.scalar(query.order_by((IngestedRecord.id + 0).desc()).limit(1))
    return microseconds(newest) if newest else 0


@_sensor(BUILD)
def new_input(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Builds when something was sent, dropped or asked for since the last look."""
    settings = load()
    # a command that was killed holds the pool in Dagster's books: whatever is begun here would wait for hours behind it
    fail_orphans(context.instance)
    fail_abandoned(settings.operational_url, context.instance)
    files = settled(waiting_files(settings), now().timestamp())
    asked = newest_queued(settings.operational_url)
    key = decide(newest_unlanded(settings), files, context.cursor, asked=asked)
    if key is None:
        return dg.SkipReason("nothing new was sent, dropped or asked for")
    # where a build takes longer than it is from look to look, each look would queue one more
    if is_queued(context.instance, {BUILD.name, NIGHTLY.name}):
        return dg.SkipReason("something new is there, and a run waits for its turn that takes it along")
    return dg.SensorResult(run_requests=[dg.RunRequest(run_key=key)], cursor=key)


def erasure_key(open_ones: Iterable[str], at: datetime, last: str | None) -> str | None:
    """The key of a build that an erasure waits for, or None, from what tells those apart that are not completed.

    A new one is built for at once; one that its build did not end is tried again once an hour.
    """
    newest = max(open_ones, default=None)
    if newest is None:
        return None
    key = f"{newest}:{at:%Y-%m-%dT%H}"
    return key if key != last else None


def is_building(instance: dg.DagsterInstance) -> bool:
    """Whether a run that erases is queued or going on: it may take up what waits, and no other can begin beside it."""
    unfinished = instance.get_runs(dg.RunsFilter(statuses=UNDER_WAY))
    return any(run.job_name in ERASING and not is_orphan(run) for run in unfinished)


@_sensor(BUILD)
def erasures_waiting(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Builds when somebody is to be erased; again once an hour while that has failed."""
    open_ones = [one.id for one in waiting(load().operational_url)]
    return _built_for("erasure", open_ones, context) or dg.SkipReason("nobody waits to be erased")


@_sensor(BUILD)
def purges_waiting(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Builds when an archived profile is to leave files and figures; again once an hour while that has failed."""
    open_ones = [one.requested_at.isoformat() for one in purge.waiting(load().operational_url)]
    return _built_for("purge", open_ones, context) or dg.SkipReason("no archived profile waits to be purged")


def _built_for(
    what: str, open_ones: Iterable[str], context: dg.SensorEvaluationContext
) -> dg.SensorResult | dg.SkipReason | None:
    key = erasure_key(open_ones, now(), context.cursor)
    if key is None:
        return None
    if is_building(context.instance):
        return dg.SkipReason(f"one waits for its {what}, and a run is under way")
    return dg.SensorResult(run_requests=[dg.RunRequest(run_key=f"{what}:{key}")], cursor=key)


@_sensor(NIGHTLY)
def syncs_waiting(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Pulls, and builds, when an account was connected or somebody asked for its newest data; those accounts alone.

    Once per request; again once an hour while one waits that no run had time for.
    """
    settings = load()
    queued, hour = queued_syncs(settings), f"{now():%Y-%m-%dT%H}"
    # which of them is newest, a clock that was set back does not tell
    seen = (context.cursor or "").split()
    if not queued or (hour in seen and set(queued) <= set(seen)):
        return dg.SkipReason("nobody waits for a sync")
    if is_building(context.instance):
        return dg.SkipReason("somebody waits for a sync, and a run is under way")
    tags = {**pull_range(settings).tags, ONLY_QUEUED: "yes"}
    newest = max(set(queued).difference(seen) or queued)
    request = dg.RunRequest(run_key=f"sync:{newest}:{hour}", tags=tags)
    return dg.SensorResult(run_requests=[request], cursor=" ".join([hour, *queued]))


@_sensor(None, every_seconds=3600)
def old_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Begins nothing: takes runs beyond TOUCHLEDGER_RUN_HISTORY_DAYS out of Dagster's books, once an hour."""
    settings = load()
    gone = forget(context.instance, settings, now())
    return dg.SkipReason(f"runs that were too old or too many (TOUCHLEDGER_RUN_HISTORY_DAYS) and taken out: {gone}")


SENSORS = [new_input, erasures_waiting, purges_waiting, syncs_waiting, old_runs]
