"""The same models on a Spark cluster: what its application is told, and how the marts come back.

Spark has an environment of its own (`make spark`). Its application reads the same lake, keeps all it builds in one
folder that the cluster reaches too, and ends; the marts are then loaded into a new warehouse file, which takes the old
one's place at once. So checks, ranking and publication are the same whichever engine built.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from data_contracts.contract import landed, modelled
from orchestration import database_files, durable, spark_run
from orchestration.batch_file import raw_schema
from orchestration.dbt_manifest import PROJECT
from orchestration.limits import limits
from orchestration.log_files import put_aside
from orchestration.orphans import die_with_parent
from orchestration.publish import STORAGE
from orchestration.spark_needs import python, require
from touchledger.settings import Settings

DRIVER = Path(__file__).with_name("spark_driver.py")
# what others than the publisher read in the warehouse
BESIDE_MARTS = ("intermediate.int_score_history", "intermediate.int_score_history_layers")
MEANING = {
    # instants are UTC, sums overflow loudly, and a product of decimals keeps its last digit, as on DuckDB
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # a cluster's own defaults may pass over files that a worker cannot read, move old dates, or make tables otherwise
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.sources.default": "parquet",
    # the catalogue lives as long as the application: every run builds everything
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
}
COLUMN_TYPES = {
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.date32(): "date",
}


def run_models(settings: Settings, command: Sequence[str]) -> int:
    """Run one dbt command on the cluster; dbt's own output goes to this process's, Spark's to logs/spark.log.

    Gives dbt's exit code. On 0 the marts lie in `marts_folder`. Raises SparkMissingError.
    """
    require(settings)
    spark_run.clear(settings)
    spark_run.make(settings)
    _hold_lake(settings)
    log = spark_run.log(settings)
    log.parent.mkdir(parents=True, exist_ok=True)
    put_aside(log, settings.log_mb)
    parent = os.getpid()
    with log.open("ab") as spoken:
        with suppress(BlockingIOError):
            # held on by Java, which writes there too and outlives a driver that is killed
            fcntl.flock(spoken, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return subprocess.run(  # noqa: S603 - our own file, no shell
            # -P: dbt imports every module whose name begins with dbt_, and ours beside the driver do
            [str(python(settings)), "-P", str(DRIVER)],
            input=json.dumps(_plan(settings, [*command, *_folders(target(settings))])).encode(),
            stderr=spoken,
            env=_environment(settings),
            preexec_fn=lambda: die_with_parent(parent),
            check=False,
        ).returncode


def take_marts(settings: Settings) -> dict[str, int]:
    """Put a warehouse of the marts just built in the place of the old one; gives rows by table."""
    new = building(settings)
    durable.remove(*database_files.whole(new))
    rows: dict[str, int] = {}
    try:
        with duckdb.connect(str(new), config={**STORAGE, **limits(settings)}) as connection:
            connection.execute("set TimeZone = 'UTC'")
            for relation in wanted():
                schema, name = relation.split(".")
                files = str(marts_folder(settings) / relation / "*.parquet")
                connection.execute(f"create schema if not exists {schema}")
                rows_of = f"select *{_kinds(name)} from read_parquet(?, hive_partitioning = false)"  # noqa: S608
                connection.execute(f"create table {relation} as {rows_of}", [files])
                count = connection.execute(f"select count(*) from {relation}").fetchone()  # noqa: S608
                rows[name] = int(count[0]) if count else 0
            connection.execute("checkpoint")
        # the log of a build that was killed would be taken for the new file's, which then nobody can open
        durable.remove(*database_files.beside(settings.warehouse))
        durable.put_in_place(new, settings.warehouse)
    finally:
        durable.remove(*database_files.whole(new))
    return rows


def building(settings: Settings) -> Path:
    """Where the new warehouse is until it takes the old one's place."""
    return settings.warehouse.with_name(f"building-{settings.warehouse.name}")


def _kinds(name: str) -> str:
    """What gives the columns of a type that Spark lacks, which come as texts, that type again."""
    columns = modelled()[name].columns if name in modelled() else ()
    ids = ", ".join(f'cast("{one.name}" as uuid) as "{one.name}"' for one in columns if one.physical == "uuid")
    return f" replace ({ids})" if ids else ""


def wanted() -> list[str]:
    """The relations that come back from the cluster."""
    return [*(f"marts.{name}" for name in modelled()), *BESIDE_MARTS]


def marts_folder(settings: Settings) -> Path:
    """Where the application leaves them as Parquet, a folder for each."""
    return spark_run.folder(settings) / "handed_over"


def executors_file(settings: Settings) -> Path:
    """What each executor of the last application did, as JSON."""
    return settings.home / "spark-executors.json"


def target(settings: Settings) -> Path:
    """Where dbt writes its artifacts: apart from DuckDB's, whose parse another engine would make worthless."""
    return settings.home / "dbt-spark"


def _plan(settings: Settings, command: list[str]) -> dict[str, Any]:
    conf = {
        **MEANING,
        "spark.sql.warehouse.dir": _address(spark_run.folder(settings) / "warehouse"),
        "spark.sql.shuffle.partitions": str(settings.spark_partitions),
        "spark.driver.memory": settings.spark_driver_memory,
        "spark.executor.memory": settings.spark_executor_memory,
        **_own_files(settings),
        **settings.spark_conf,
    }
    return {
        "master": settings.spark_master,
        "conf": conf,
        "tables": [_table(settings, name) for name in landed()],
        "command": [*command, "--target", "spark"],
        "wanted": wanted(),
        "marts": _address(marts_folder(settings)),
        "executors": str(executors_file(settings)),
        "log": str(spark_run.log(settings)),
        "wait_minutes": settings.spark_wait_minutes,
    }


def _own_files(settings: Settings) -> dict[str, str]:
    """Where the application keeps files of its own: what a kill left in the machine's /tmp, no erasure would reach."""
    own = str(_own(settings))
    # Spark reads a list, in which a comma cannot be told from one of a path
    return {} if "," in own else {"spark.local.dir": own}


def _own_files_first(settings: Settings) -> dict[str, str]:
    """The same before a SPARK_LOCAL_DIRS of the machine, which is for its workers and would have these files too."""
    own = str(_own(settings))
    return {} if os.pathsep in own else {"SPARK_EXECUTOR_DIRS": own}


def _own(settings: Settings) -> Path:
    return spark_run.folder(settings) / "own"


def _hold_lake(settings: Settings) -> None:
    """Name the lake's files in the run's folder: of one that is replaced Spark skips rows in silence, or ends."""
    for root in (path for path in map((settings.lake / "raw").joinpath, landed()) if path.exists()):
        for folder, _, names in os.walk(root, onerror=_refused):
            held = _held(settings) / root.name / Path(folder).relative_to(root)
            held.mkdir(parents=True)
            # those that begin with a dot are being written
            for name in (name for name in names if not name.startswith(".")):
                link_or_copy(str(Path(folder, name)), str(held / name))


def _refused(error: OSError) -> None:
    raise error


def link_or_copy(source: str, target: str) -> None:
    """A second name for the file, which stays when another takes the first; a copy where there can be none."""
    try:
        os.link(source, target)
    except OSError:
        # on another file system, or one without links
        shutil.copyfile(source, target)


def _held(settings: Settings) -> Path:
    return spark_run.folder(settings) / "lake"


def _table(settings: Settings, name: str) -> dict[str, Any]:
    root = _held(settings) / name
    shared = [root / "_shared"] if (root / "_shared").exists() else []
    columns = ", ".join(f"`{field.name}` {_type(field.type)}" for field in raw_schema(landed()[name]))
    return {"name": name, "columns": columns, "folders": [_address(folder) for folder in [root, *shared]]}


def _address(folder: Path) -> str:
    """A folder as Spark takes it, which looks for a bare path on what Hadoop's settings call the file system."""
    # Spark decodes nothing: no percent signs in the place of letters
    return f"file:{folder}"


def _type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "timestamp_ltz"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    return COLUMN_TYPES[kind]


def _folders(target: Path) -> list[str]:
    project, written = str(PROJECT), str(target)
    return ["--project-dir", project, "--profiles-dir", project, "--target-path", written, "--log-path", written]


def _environment(settings: Settings) -> dict[str, str]:
    """This process's variables but SPARK_HOME, whose Spark would run in the place of the environment's own."""
    theirs = os.environ.get("SPARK_HOME")
    settings_of_it = {"SPARK_CONF_DIR": str(Path(theirs) / "conf")} if theirs else {}
    return {
        **settings_of_it,
        **{name: value for name, value in os.environ.items() if name != "SPARK_HOME"},
        **_own_files_first(settings),
        "PYSPARK_PYTHON": str(python(settings)),
        "TOUCHLEDGER_SPARK_THREADS": str(settings.spark_threads),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DO_NOT_TRACK": "1",
    }
