"""Runs a job of the code location in this process, and tells a listener how it goes."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import dagster as dg
from dagster._core.execution import compute_logs

from api.db import now
from orchestration import recomputes
from orchestration.history import forget
from orchestration.instance import fail_orphans, origin_of, prepare_instance, process_tags, require_own_line
from orchestration.partitions import DayRange
from orchestration.sync import pull_range
from orchestration.warehouse_state import require_database
from touchledger.settings import Settings

WITHOUT_MODELS = {"sync", "ranking"}
# as Dagster keeps them in its events
INTERRUPTS = {"KeyboardInterrupt", "DagsterExecutionInterruptedError"}
# of an error on Spark the calls within Java: hundreds of lines between the few that say what it is
CALLS_OF_JAVA = re.compile(r"^[ \t]*(?:\t|\\t)+(?:at |\.{3} )[^\n]*\n?", re.MULTILINE)
PULLING_JOBS = {"nightly", "sync", "hourly_delivery"}


# what follows a step's log would be told of a Ctrl-C too, and print where it was then; it ends with this process
compute_logs.subprocess = SimpleNamespace(  # type: ignore[assignment, attr-defined]
    Popen=partial(subprocess.Popen, start_new_session=True)
)


@dataclass(frozen=True)
class Progress:
    """One thing that happened: a step began, wrote an asset, passed, warned of or failed a check, ended or failed."""

    kind: str
    step: str
    subject: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """How a run ended, `was_stopped` by Ctrl-C.

    `seconds` is by step; `problems` are fit for a terminal; `assets` holds metadata.
    """

    run_id: str
    success: bool = False
    was_stopped: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    assets: dict[str, dict[str, Any]] = field(default_factory=dict)


def run_job(
    settings: Settings,
    name: str,
    *,
    full_refresh: bool = False,
    engine: str | None = None,
    days: DayRange | None = None,
    listen: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Run the job to its end; a failing step is told in the outcome, not raised.

    Raises DamagedWarehouseError and PooledHistoryError before the run begins.
    """
    from orchestration.definitions import defs

    if name not in WITHOUT_MODELS:
        require_database(settings)
    prepare_instance(settings)
    require_own_line(settings)
    outcome = Outcome(dg_run_id())
    # the daemon cannot begin again what ran in a process of a command, whatever the job says
    tags = {**process_tags(outcome.run_id), "dagster/max_retries": "0"}
    if name in PULLING_JOBS:
        tags |= (days or pull_range(settings)).tags
    job = defs.resolve_job_def(name)
    with dg.DagsterInstance.get() as instance:
        fail_orphans(instance)
        forget(instance, settings, now())
        instance.add_event_listener(outcome.run_id, Listener(outcome, listen))
        # Dagster's pages of a job, and its timeline, hold only what says which code location it is of
        create = partial(instance.create_run_for_job, remote_job_origin=origin_of(name))
        instance.create_run_for_job = create  # type: ignore[method-assign]
        result = job.execute_in_process(
            instance=instance,
            run_id=outcome.run_id,
            tags=tags,
            raise_on_error=False,
            run_config=_config(name, full_refresh, engine),
        )
    outcome.success = result.success
    if not outcome.success:
        recomputes.fail(settings.operational_url, outcome.run_id)
    return outcome


def dg_run_id() -> str:
    """A fresh id of a Dagster run."""
    from dagster._core.utils import make_new_run_id

    return make_new_run_id()


def _config(name: str, full_refresh: bool, engine: str | None) -> dict[str, Any]:
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    if name in WITHOUT_MODELS:
        return quiet
    return {**quiet, "ops": {"warehouse": {"config": {"full_refresh": full_refresh, "engine": engine}}}}


class Listener:
    """Turns Dagster's event log entries into Progress and keeps what the outcome needs."""

    def __init__(self, outcome: Outcome, listen: Callable[[Progress], None]) -> None:
        self._outcome, self._listen = outcome, listen
        self._started: dict[str, float] = {}

    def __call__(self, entry: dg.EventLogEntry) -> None:
        event = entry.dagster_event
        if event is None:
            return
        step = event.step_key or ""
        if event.event_type == dg.DagsterEventType.STEP_START:
            self._started[step] = time.monotonic()
            self._listen(Progress("started", step))
        elif event.event_type == dg.DagsterEventType.ASSET_MATERIALIZATION:
            self._materialized(event, step)
        elif event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            self._checked(event, step)
        elif event.event_type in (dg.DagsterEventType.STEP_SUCCESS, dg.DagsterEventType.STEP_FAILURE):
            self._ended(event, step)
        elif event.event_type == dg.DagsterEventType.RUN_FAILURE:
            self._failed(event)

    def _failed(self, event: dg.DagsterEvent) -> None:
        error = event.job_failure_data.error
        self._outcome.was_stopped |= error is not None and error.cls_name in INTERRUPTS
        if not self._outcome.problems:
            self._outcome.problems.append(_innermost(error) or event.message or "the run failed")

    def _materialized(self, event: dg.DagsterEvent, step: str) -> None:
        materialization = event.step_materialization_data.materialization
        metadata = {key: getattr(value, "value", value) for key, value in materialization.metadata.items()}
        subject = "/".join(materialization.asset_key.path)
        self._outcome.assets[subject] = metadata
        self._listen(Progress("wrote", step, subject, metadata))

    def _checked(self, event: dg.DagsterEvent, step: str) -> None:
        check = event.asset_check_evaluation_data
        subject = f"{'/'.join(check.asset_key.path)}: {check.check_name}"
        if check.passed or check.severity == dg.AssetCheckSeverity.WARN:
            self._listen(Progress("passed" if check.passed else "warned", step, subject))
            return
        why = f": {check.description}" if check.description else ""
        self._outcome.problems.append(f"{subject} did not pass{why}")
        self._listen(Progress("broke", step, subject))

    def _ended(self, event: dg.DagsterEvent, step: str) -> None:
        self._outcome.seconds[step] = time.monotonic() - self._started.get(step, time.monotonic())
        failed = event.event_type == dg.DagsterEventType.STEP_FAILURE
        if failed:
            self._outcome.was_stopped |= any(cls in INTERRUPTS for cls in _classes(event.step_failure_data.error))
            self._outcome.problems.append(f"{step}: {_innermost(event.step_failure_data.error) or event.message}")
        self._listen(Progress("failed" if failed else "ended", step))


def _classes(error: Any) -> Iterator[str]:
    """The names of an exception's class, and of those that it wraps or came up beside."""
    while error is not None:
        yield error.cls_name
        error = error.cause or error.context


def _innermost(error: Any) -> str:
    """The message of the exception that all the others wrap, without the calls within Java; empty without one."""
    while error is not None and error.cause is not None:
        error = error.cause
    return CALLS_OF_JAVA.sub("", error.message).strip() if error is not None else ""
