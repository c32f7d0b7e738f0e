"""The `touchledger-dbt` command: dbt as the warehouse's only writer, which ends with the run that started it."""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from importlib.metadata import version

from orchestration import dbt_events, dbt_lookups, dbt_order, spark_run, templates
from orchestration.dbt_commands import writes
from orchestration.dbt_manifest import KEPT, STATE
from orchestration.garbage import search_seldom
from orchestration.limits import threads
from orchestration.locks import WriterBusyError, only_writer
from orchestration.orphans import PARENT_VARIABLE, die_with_parent
from touchledger.settings import Settings, load

WAIT_SECONDS = 60.0
# in the place of dbt's arguments, which then come on standard input (orchestration/early_dbt.py)
WAIT = "--wait"
# in the place of dbt's own --target, whose other value needs another environment
ON_SPARK = "--target=spark"
# dbt takes nearly each of its flags from a variable too, and what a build keeps is read off its arguments alone: only
# those stay that say where dbt works and how it writes its log, and what Dagster says of a part of the project
KEPT_VARIABLES = frozenset(
    {
        *("DBT_PROJECT_DIR", "DBT_PROFILES_DIR", "DBT_TARGET_PATH", "DBT_LOG_PATH", "DBT_INDIRECT_SELECTION"),
        *("DBT_LOG_FORMAT", "DBT_LOG_FORMAT_FILE", "DBT_LOG_LEVEL_FILE", "DBT_LOG_FILE_MAX_BYTES"),
        *("DBT_USE_COLORS", "DBT_USE_COLORS_FILE", "DBT_PRINTER_WIDTH"),
    }
)


def main() -> None:
    """Run dbt with this process's arguments."""
    search_seldom()
    # dbt waits for the statements that run; a build ends as well without them as when it is killed
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:] == ["--version"]:
        # dbt's own answer asks the package index for updates; Dagster only reads the number
        sys.stdout.write(version("dbt-core") + "\n")
        return
    parent = os.environ.get(PARENT_VARIABLE)
    die_with_parent(int(parent) if parent else None)
    if sys.argv[1:] == [WAIT] and not _told():
        return
    settings = load()
    for name in [name for name in os.environ if name.startswith("DBT_") and name not in KEPT_VARIABLES]:
        del os.environ[name]
    os.environ.update(environment(settings))
    # Dagster reads JSON from dbt's output; its log is for people, and as JSON it was a twelfth of a small build of dbt
    os.environ.setdefault("DBT_LOG_FORMAT_FILE", "debug")
    try:
        with only_writer(settings.home / "locks" / "dbt.lock", purpose="run dbt", wait_seconds=WAIT_SECONDS):
            # a run on Spark that was killed left people there, who may be erased by now
            if spark_run.is_left(settings) and not _cleared(settings) and ON_SPARK in sys.argv:
                sys.exit(1)
            if ON_SPARK in sys.argv:
                sys.exit(_spark(settings, [argument for argument in sys.argv[1:] if argument != ON_SPARK]))
            _local(settings, sys.argv[1:])
    except WriterBusyError as error:
        sys.exit(str(error))


def _told() -> bool:
    """Import dbt, then take over the arguments and the environment that are told; False where nothing is."""
    # what is imported finds the folders that it will work in
    os.environ.update(environment(load()))
    make_ready()
    text = sys.stdin.read()
    if not text:
        return False
    told = json.loads(text)
    os.environ.clear()
    os.environ.update(told["environment"])
    load.cache_clear()
    sys.argv[1:] = told["arguments"]
    return True


def make_ready() -> None:
    """Import what dbt consists of, which takes two seconds, and have it make what each of its processes makes once."""
    import_module("dbt.cli.main")
    import_module("dbt.task.build")
    from dbt.adapters.duckdb.credentials import DuckDBCredentials
    from dbt.contracts.project import Configuration, PackageConfig, ProfileConfig, Project, ProjectFlags
    from dbt.contracts.selection import SelectorFile

    # by which dbt judges its files: half a second
    judging = (Project, ProjectFlags, Configuration, PackageConfig, ProfileConfig, SelectorFile, DuckDBCredentials)
    for judged in judging:
        judged.json_schema()
    _know_nodes()


def _know_nodes() -> None:
    """Have dbt make the code that reads and writes each kind of node, of what some build parsed: as long again."""
    from dbt.contracts.graph.manifest import Manifest

    try:
        parsed = Manifest.from_msgpack(max(KEPT.glob(f"*/{STATE}")).read_bytes())
    except Exception:
        # nothing is parsed yet, or by another version of dbt: this one makes it when it has parsed
        return
    nodes = (*parsed.nodes.values(), *parsed.sources.values(), *parsed.macros.values(), *parsed.exposures.values())
    for node in {type(node): node for node in nodes}.values():
        node.to_dict()


def environment(settings: Settings) -> dict[str, str]:
    """What profiles.yml and the sources read; the same text in every state folder, so that a parse serves them all."""
    return {
        # dbt works in the project's folder, so a relative path leads nowhere; DuckDB reads ~ as this variable
        "HOME": str(settings.home),
        "TOUCHLEDGER_WAREHOUSE": f"~/{settings.warehouse.relative_to(settings.home)}",
        "TOUCHLEDGER_LAKE": f"~/{settings.lake.relative_to(settings.home)}",
        "TOUCHLEDGER_WAREHOUSE_THREADS": str(threads(settings)),
        "TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT": settings.warehouse_memory_limit,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DO_NOT_TRACK": "1",
    }


def _spark(settings: Settings, arguments: list[str]) -> int:
    """Run the models on the cluster and take their marts into the warehouse; gives dbt's exit code."""
    from orchestration import increment, spark, spark_needs

    increment.forget(settings)
    try:
        code = spark.run_models(settings, arguments)
        if code == 0:
            spark.take_marts(settings)
        elif code < 0:
            # who kills it, as the kernel does for want of memory, leaves it no words
            _tell(f"Spark: its driver was ended by signal {-code}; {spark_needs.less_memory(settings)}")
            return 1
    except spark_needs.SparkMissingError as error:
        _tell(str(error))
        return 1
    except Exception as error:
        # before dbt began, or after it ended well: of a full disk or a folder that may not be written nothing was told
        _tell(f"Spark: {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")
        raise
    finally:
        is_cleared = _cleared(settings)
    return code if is_cleared else 1


def _cleared(settings: Settings) -> bool:
    """Remove what a run on Spark left; where that cannot be, it is told."""
    try:
        spark_run.clear(settings)
    except spark_run.LeftBehindError as error:
        _tell(str(error))
        return False
    return True


def _tell(text: str) -> None:
    """Say something as dbt says an error: Dagster repeats those, and all else is only in logs."""
    event = {"info": {"level": "error", "name": "BuildEnded", "msg": text}, "data": {}}
    told = json.dumps(event) if os.environ.get("DBT_LOG_FORMAT") == "json" else text
    sys.stdout.write(f"{told}\n")
    sys.stdout.flush()


def _local(settings: Settings, arguments: list[str]) -> None:
    """Run dbt on DuckDB; a build computes anew what is new since the one before, where that one left its base.

    A command that may write and does not end well leaves the warehouse unfinished, also when a person called it.
    """
    from orchestration import increment, warehouse_state

    finished = warehouse_state.begin(settings) if writes(arguments) else None
    arguments, base = increment.begin(settings, arguments)
    try:
        _dbt(arguments)
    except SystemExit as ended:
        if not ended.code:
            if base:
                increment.end(settings, base)
            if finished is not None:
                warehouse_state.end(settings, finished)
        raise


def _dbt(arguments: list[str]) -> None:
    # imported after the death signal is set: the import takes over a second
    from dbt.cli.main import cli

    templates.keep()
    dbt_order.longest_first()
    dbt_events.tell_at_once()
    dbt_lookups.look_up_at_once()
    cli(arguments)


if __name__ == "__main__":
    main()
