"""What the commands that run the pipeline share: running a job in view, and its outcome in words."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import click

from orchestration import spark_needs
from orchestration.inbox import not_loaded
from orchestration.pipeline import WITHOUT_MODELS, Outcome, run_job
from touchledger.output import Output
from touchledger.progress import STAGES, showing, stage_of
from touchledger.settings import Settings

OUT_OF_MEMORY = re.compile("Out of Memory Error|(could not|failed to) (allocate|pin) (block|data) of size")
# 52 is what an executor ends with for want of memory, 137 that it was killed, as the kernel does
OUT_OF_MEMORY_ON_SPARK = re.compile(r"OutOfMemoryError|Command exited with code (52|137)\b")


class RunFailedError(click.ClickException):
    """A run did not end well; figures already served are untouched."""


def run_shown(
    output: Output, settings: Settings, job: str, *, full_refresh: bool = False, engine: str | None = None
) -> Outcome:
    """Run a job with its stages in view. Raises RunFailedError with what went wrong, KeyboardInterrupt once stopped.

    `engine` is the one that the models run on, by default the deployment's.
    """
    on_spark = (engine or settings.engine) == "spark" and job not in WITHOUT_MODELS
    if on_spark:
        _require_spark(settings)
    with showing(output, settings, stage_totals(job)) as listener:
        outcome = run_job(settings, job, full_refresh=full_refresh, engine=engine, listen=listener)
    if outcome.was_stopped:
        raise KeyboardInterrupt
    if not outcome.success:
        problems = "\n".join(f"  {problem}" for problem in outcome.problems)
        raise RunFailedError(
            f"the run did not end well; what was served before still is.\n{problems}\n"
            f"{more_memory(settings, problems)}{logs_of(settings, on_spark=on_spark)}"
        )
    for connection, reason in failed_connections(outcome).items():
        output.warn(f"{connection} was not pulled: {reason}")
    # the run tells them too, without addresses and numbers
    for one in not_loaded(settings) if "landing/files" in outcome.assets else ():
        output.warn(f"{one.file} of the inbox is not loaded: {one.reason}")
    return outcome


def more_memory(settings: Settings, problems: str) -> str:
    """The settings that give a build more memory, where that was what it lacked; empty where it was not.

    DuckDB names settings of its own, which nobody can set here, and Spark the number that an executor ended with.
    """
    if OUT_OF_MEMORY_ON_SPARK.search(problems):
        return (
            f"An executor of Spark has TOUCHLEDGER_SPARK_EXECUTOR_MEMORY, here {settings.spark_executor_memory}, and "
            f"its application TOUCHLEDGER_SPARK_DRIVER_MEMORY, here {settings.spark_driver_memory}: give more to the "
            "one that ended for want of it, or raise TOUCHLEDGER_SPARK_PARTITIONS.\n"
        )
    if not OUT_OF_MEMORY.search(problems):
        return ""
    return (
        f"A build may use TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT, here {settings.warehouse_memory_limit}: "
        "give it more, or lower TOUCHLEDGER_WAREHOUSE_THREADS.\n"
    )


def logs_of(settings: Settings, *, on_spark: bool) -> str:
    """Where to read on; what an application that found no cluster says, it says before dbt has said anything."""
    logs = settings.home / "logs"
    return f"Its log: {logs / 'pipeline.log'}" + (f"\nSpark's own: {logs / 'spark.log'}" if on_spark else "")


def _require_spark(settings: Settings) -> None:
    try:
        spark_needs.require_cluster(settings)
    except spark_needs.SparkMissingError as missing:
        raise click.ClickException(str(missing)) from None


def stage_totals(job: str) -> dict[str, int]:
    """How many assets each stage of a job will write."""
    from orchestration.definitions import defs

    graph = defs.resolve_job_def(job).asset_layer.asset_graph
    selected = defs.resolve_job_def(job).asset_layer.selected_asset_keys
    counts = Counter(stage_of(graph.get(key).assets_def.node_def.name) for key in selected)
    return {stage: counts[stage] for stage in dict.fromkeys(STAGES.values()) if counts[stage]}


def failed_connections(outcome: Outcome) -> dict[str, str]:
    """Why connections gave nothing, by connection."""
    failed: dict[str, str] = {}
    for metadata in outcome.assets.values():
        failed |= metadata.get("failed connections") or {}
    return failed


def summary(outcome: Outcome) -> dict[str, Any]:
    """The outcome for --json."""
    return {
        "run_id": outcome.run_id,
        "snapshot_id": outcome.assets.get("published", {}).get("snapshot"),
        "seconds": {step: round(seconds, 2) for step, seconds in outcome.seconds.items()},
        "failed_connections": failed_connections(outcome),
    }
