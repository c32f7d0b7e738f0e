"""Runs dbt inside one Spark application. Spark's own environment runs this file; it imports nothing of the project.

Reads a plan as JSON from standard input, see `orchestration.spark`. Ends with dbt's verdict: 0 when everything was
built and every test passed. What is wanted lies then as Parquet in the plan's `marts`, a folder for each relation.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark import __version__ as client
from pyspark.sql import SparkSession

LAKE = "lake"
LOOK_EVERY_SECONDS = 0.3
# as Spark logs it of an application that was killed at its master's page, or whose masters or executors are lost
REASON = re.compile(r"Application has been killed\. Reason: (.+)")
# what waits, and which executors the master started: Spark goes on by itself where its master comes back
LEVELS = {"scheduler.TaskSchedulerImpl": "WARN", "scheduler.cluster.StandaloneSchedulerBackend": "INFO"}
LOST_MASTER = "Disconnected from Spark cluster"
# the second is said of one that had come to the driver
STARTED, LOST_EXECUTOR = "Granted executor ID", "Lost executor"
# as its master says of the application when many of its executors ended by themselves
FAILED = "Master removed our application: FAILED"
# so it says too when a master drops what it cannot read, which only that one's log tells
UNTAKEN = "All masters are unresponsive"
# of a Java that ended by itself, whose own words are only in the log, between warnings and above where it was
NO_JAVA = "JAVA_GATEWAY_EXITED"
BESIDE_IT = re.compile(r"\s|WARNING: |Using Spark's default|\d\d/\d\d/\d\d .* (WARN|INFO) ")


def main() -> None:
    """Build what the plan says; what ended it is also told where errors of dbt are."""
    plan = json.load(sys.stdin)
    before = Path(plan["log"]).stat().st_size
    try:
        is_good = _built(plan, before)
    except Exception as error:
        _tell(f"Spark: {_stopped(plan, before) or _not_begun(error, plan, before) or _reason(error)}")
        raise
    sys.exit(0 if is_good else 1)


def _built(plan: dict[str, Any], before: int) -> bool:
    """Start the application, name the sets of the lake in it, run dbt in the same session, and hand over the marts.

    `before` are the bytes that its log had.
    """
    builder = SparkSession.builder.appName("touchledger").master(plan["master"])
    # Hadoop has one of its own, 022: no worker of another user could write, whatever the group of the folder
    builder = builder.config("spark.hadoop.fs.permissions.umask-mode", f"{_umask():03o}")
    for name, value in plan["conf"].items():
        builder = builder.config(name, value)
    with _speaking_to_its_log():
        spark = builder.getOrCreate()
    plan["driver"] = str(spark.sparkContext.getConf().get("spark.driver.host"))
    _let_it_say_what_it_waits_for(spark)
    over = Event()
    Thread(target=_end_with, args=(spark.sparkContext._gateway.proc, over), daemon=True).start()
    Thread(target=_end_once_stopped, args=(spark, plan, before, over), daemon=True).start()
    Thread(target=_end_once_left_alone, args=(spark, plan, before, over), daemon=True).start()
    try:
        spark.sql(f"create database if not exists {LAKE}")
        for table in plan["tables"]:
            _name(spark, table)
        done = dbtRunner().invoke(plan["command"])
        if done.success:
            for relation in plan["wanted"]:
                spark.table(relation).write.parquet(f"{plan['marts']}/{relation}")
            Path(plan["executors"]).write_text(json.dumps(_executors(spark)))
    finally:
        over.set()
        spark.stop()
    if done.exception is not None:
        raise done.exception
    return bool(done.success)


def _umask() -> int:
    """The bits that are kept from whom a new file of this process is not for; none tells them but by setting others."""
    ours = os.umask(0o077)
    os.umask(ours)
    return ours


def _end_with(java: Any, over: Event) -> None:
    """End this process with its Java, which holds the application: each model left would only be refused by it."""
    code = java.wait()
    if not over.is_set():
        _tell(f"Spark: its application ended with {code}; below 0 that is a signal, and -9 often is want of memory")
        os._exit(1)


def _end_once_stopped(spark: SparkSession, plan: dict[str, Any], before: int, over: Event) -> None:
    """End this process when others than we stop the application, whose Java lives on and refuses each model left."""
    application = spark.sparkContext._jsc.sc()
    while not over.wait(LOOK_EVERY_SECONDS):
        try:
            is_stopped = application.isStopped()
        except Exception:
            # its Java ended, which is told elsewhere
            return
        if is_stopped and not over.is_set():
            why = _stopped(plan, before) or f"its application was stopped: {plan['log']} says why"
            _tell(f"Spark: {why}")
            os._exit(1)


def _end_once_left_alone(spark: SparkSession, plan: dict[str, Any], before: int, over: Event) -> None:
    """End this process when its jobs have had no executor for `wait_minutes` on end: Spark waits for one for ever."""
    application = spark.sparkContext._jsc.sc()
    since: float | None = None
    while not over.wait(LOOK_EVERY_SECONDS):
        try:
            has_executor = application.getExecutorMemoryStatus().size() > 1
            is_alone = not has_executor and _waits(application)
        except Exception:
            # it ended, which is told elsewhere
            return
        plan["had_executor"] = plan.get("had_executor") or has_executor
        since = (since or time.monotonic()) if is_alone else None
        if since and time.monotonic() - since >= plan["wait_minutes"] * 60 and not over.is_set():
            way_out = (
                f"it had lost its master at {plan['master']}, and one that is started anew runs no executors for"
                " applications of before: build again once it answers"
                if LOST_MASTER in _said(plan, before)
                else _not_come(plan, before)
                or f"start a worker of {plan['master']} that has {plan['conf']['spark.executor.memory']} of memory"
                " free, or ask for less by TOUCHLEDGER_SPARK_EXECUTOR_MEMORY"
            )
            waited = f"TOUCHLEDGER_SPARK_WAIT_MINUTES={plan['wait_minutes']}"
            _tell(f"Spark: its jobs had no executor for {waited}: {way_out}")
            os._exit(1)


def _stopped(plan: dict[str, Any], before: int) -> str | None:
    """That the application was stopped, and why; None where its log does not say so."""
    reasons = REASON.findall(_said(plan, before))
    if not reasons:
        return None
    also = None
    if reasons[-1].startswith(UNTAKEN):
        also = f" One that is there takes no application of another version of Spark than its own; here it is {client}"
    elif reasons[-1].startswith(FAILED):
        also = f"; {why}" if (why := _not_come(plan, before)) else None
    return f"its application was stopped: {reasons[-1]}{also or ''}"


def _not_come(plan: dict[str, Any], before: int) -> str | None:
    """What to look at where the master started executors and none came to the driver; None of any other application."""
    said = _said(plan, before)
    # those that are not needed for a while are given back without a word
    if STARTED not in said or LOST_EXECUTOR in said or plan.get("had_executor"):
        return None
    return (
        f"its master started executors, which did not come to this machine at {plan['driver']}: set spark.driver.host"
        " in TOUCHLEDGER_SPARK_CONF to an address of it that the workers reach, or read in the work folder of a worker"
        " what else ended them"
    )


def _said(plan: dict[str, Any], before: int) -> str:
    """What the log holds of this application alone."""
    return Path(plan["log"]).read_bytes()[before:].decode(errors="replace")


def _waits(application: Any) -> bool:
    """Whether jobs wait for executors; on a `local` master the driver runs them itself."""
    return bool(len(application.statusTracker().getActiveJobIds()) and not application.isLocal())


@contextmanager
def _speaking_to_its_log() -> Iterator[None]:
    """Let what is started meanwhile write there too what it means for a terminal, as a Java that has no memory does."""
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)


def _not_begun(error: Exception, plan: dict[str, Any], before: int) -> str | None:
    """What a Java said that ended before it began; None of any other error."""
    if NO_JAVA not in str(error):
        return None
    said = [line for line in _said(plan, before).splitlines() if line and not BESIDE_IT.match(line)]
    return f"its Java did not begin: {' '.join(said[:2]) or plan['log']}"


def _reason(error: Exception) -> str:
    """What refused, in a line: Java's own where it was Java, whose call alone is named in Python's first line."""
    first, *others = str(error).strip().split("\n")
    of_java = (line.removeprefix(": ") for line in others if line.startswith(": "))
    return next(of_java, f"{type(error).__name__}: {first}")


def _tell(text: str) -> None:
    """Say something as dbt says an error: Dagster repeats those, and all else is only in logs."""
    event = {"info": {"level": "error", "name": "SparkEnded", "msg": text}, "data": {}}
    told = json.dumps(event) if os.environ.get("DBT_LOG_FORMAT") == "json" else text
    sys.stdout.write(f"{told}\n")
    sys.stdout.flush()


def _let_it_say_what_it_waits_for(spark: SparkSession) -> None:
    """Without a worker that has the memory, or a master, Spark waits for ever; its level of a log keeps that back."""
    log4j = spark._jvm.org.apache.logging.log4j
    for name, level in LEVELS.items():
        log4j.core.config.Configurator.setLevel(f"org.apache.spark.{name}", getattr(log4j.Level, level))


def _name(spark: SparkSession, table: dict[str, Any]) -> None:
    """One set as a view over its folders: by itself Spark looks into no folder whose name begins with an underscore."""
    parts = []
    for number, folder in enumerate(table["folders"]):
        part = f"{LAKE}.{table['name']}__{number}"
        # every column is told: a folder without files has none, and an old file lacks the newer ones
        spark.sql(
            f"create table {part} ({table['columns']}) using parquet"
            f" options (recursiveFileLookup 'true') location '{_quoted(folder)}'"
        )
        parts.append(f"select * from {part}")  # noqa: S608 - names of our own contracts
    spark.sql(f"create or replace view {LAKE}.{table['name']} as {' union all '.join(parts)}")


def _quoted(text: str) -> str:
    """A text as it stands between the quotes of a literal of Spark's."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _executors(spark: SparkSession) -> list[dict[str, Any]]:
    """What each executor did for the application: cores, tasks and milliseconds in tasks."""
    found = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    executors = [found.apply(place) for place in range(found.size())]
    return [
        {"id": one.id(), "cores": one.totalCores(), "tasks": one.completedTasks(), "task_ms": one.totalDuration()}
        for one in executors
    ]


if __name__ == "__main__":
    main()
