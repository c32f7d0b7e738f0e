"""What the doctor looks at where the models run on Spark: what a build would find before its first model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from orchestration import spark_needs
from touchledger.doctor_files import is_there, nearest, not_writable
from touchledger.doctor_packages import differing
from touchledger.finding import Finding
from touchledger.settings import REPOSITORY, Settings

LOCK = REPOSITORY / "requirements-spark.lock"
ENOUGH_BYTES = 2 * 1024**3
MUCH_TO_COPY_BYTES = 1024**3


def cluster(settings: Settings) -> Iterator[Finding]:
    """Spark's environment, its packages, Java, the master and the folder of a run; nothing where all is DuckDB's."""
    if settings.engine != "spark" and settings.spark_master is None:
        return
    try:
        spark_needs.require_cluster(settings)
    except spark_needs.SparkMissingError as error:
        found, _, way_out = str(error).partition(": ")
        yield Finding("Spark", "fail", found, way_out)
    else:
        java = spark_needs.java() or ""
        found = f"{settings.spark_master} with Java {spark_needs.java_version(java)} of {java}"
        yield Finding("Spark", "ok", found)
    yield from _packages(REPOSITORY / settings.spark_environment)
    yield from _folder(settings.spark_runs)
    yield from _copied(settings)


def _packages(environment: Path) -> Iterator[Finding]:
    if not is_there(environment / "bin" / "python"):
        # told as what keeps a build from beginning
        return
    found = distributions(path=[str(one) for one in environment.glob("lib/python*/site-packages")])
    installed: dict[str, str] = {canonicalize_name(one.name): one.version for one in found}
    differs = differing(LOCK, installed.get)
    if differs:
        yield Finding("Spark's packages", "warn", differs, "run `make spark`")
    else:
        yield Finding("Spark's packages", "ok", "as locked")


def _folder(folder: Path) -> Iterator[Finding]:
    """Where a run keeps what it builds; who may read it is told beside the state folder."""
    refused = not_writable(folder)
    if refused:
        way_out = "set TOUCHLEDGER_SPARK_FOLDER to one that this user may write"
        yield Finding("Spark's folder", "fail", f"{folder}: {refused}", way_out)
        return
    free = shutil.disk_usage(nearest(folder)).free
    found = f"{folder} can be written, {free / 1024**3:.1f} GiB free"
    if free >= ENOUGH_BYTES:
        yield Finding("Spark's folder", "ok", found)
    else:
        yield Finding("Spark's folder", "warn", found, "make room: 2 GiB or more")


def _copied(settings: Settings) -> Iterator[Finding]:
    """What a run copies where the lake's files can have no second names, whatever else is wrong with its folder."""
    folder, raw = nearest(settings.spark_runs), settings.lake / "raw"
    if not is_there(raw) or raw.stat().st_dev == folder.stat().st_dev:
        return
    size = sum(file.stat().st_size for file in raw.rglob("*.parquet"))
    found = f"{folder} is on another disk than the lake, so each build first copies {size / 1024**3:.1f} GiB into it"
    if size < MUCH_TO_COPY_BYTES:
        yield Finding("Spark's copy of the lake", "ok", found)
    else:
        way_out = "set TOUCHLEDGER_SPARK_FOLDER to one on the lake's disk"
        yield Finding("Spark's copy of the lake", "warn", found, way_out)
