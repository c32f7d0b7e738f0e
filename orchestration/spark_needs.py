"""What a build on Spark needs before its first model: a cluster that is named and answers, Java, and an environment."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

from touchledger.settings import REPOSITORY, Settings

ANSWER_SECONDS = 5.0
# of a process that does nothing else, on a machine that may be busy
JAVA_SECONDS = 60.0
OLDEST_JAVA = 17
# 8 calls itself 1.8
JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
# in the path of a table, of which Spark then finds no file or those of another folder
PATTERNS = re.compile(r"[*?\[{\\]")
JAVA_WAY_OUT = f"install Java {OLDEST_JAVA}, or set JAVA_HOME to the folder that has it"


class SparkMissingError(RuntimeError):
    """Spark cannot be used yet; the text names the setting or the command that is missing."""


def require(settings: Settings) -> None:
    """Raise SparkMissingError unless a cluster is named, Spark's environment is there, and it can read its folder."""
    if settings.spark_master is None:
        raise SparkMissingError(
            "no Spark cluster is named: set TOUCHLEDGER_SPARK_MASTER to its address, such as spark://host:7077"
        )
    if not python(settings).exists():
        raise SparkMissingError(
            f"there is no Spark in {python(settings).parent.parent}: `make spark` installs it,"
            " or TOUCHLEDGER_SPARK_ENVIRONMENT names an environment that has it"
        )
    found = PATTERNS.search(str(settings.spark_runs))
    if found:
        raise SparkMissingError(
            f"Spark reads the {found.group()} of {settings.spark_runs} as a pattern: set TOUCHLEDGER_SPARK_FOLDER to a"
            r" folder without *, ?, [, {, or \ in its path"
        )


def require_cluster(settings: Settings) -> None:
    """Raise SparkMissingError also where there is no Java that Spark runs on, or no master of the address answers.

    Spark asks a master that is not there for minutes, and says so in its own log only; so it says of an old Java.
    """
    require(settings)
    _require_java()
    address = settings.spark_master or ""
    masters = address.removeprefix("spark://").split(",") if address.startswith("spark://") else []
    if masters and not any(_answers(master) for master in masters):
        raise SparkMissingError(
            f"no Spark master answers at {' or '.join(masters)}: start it, or correct TOUCHLEDGER_SPARK_MASTER"
        )


def less_memory(settings: Settings) -> str:
    """What helps where a process of a build on Spark was killed on this machine, as a clause of a sentence."""
    return (
        "where that was the kernel, for want of memory, lower TOUCHLEDGER_SPARK_DRIVER_MEMORY, here "
        f"{settings.spark_driver_memory}, which its Java has, or give the machine or its container more"
    )


def python(settings: Settings) -> Path:
    """The Python of Spark's environment, there or not."""
    return REPOSITORY / settings.spark_environment / "bin" / "python"


def java() -> str | None:
    """Path of the Java that Spark would run, None where there is none; Spark looks for it in this order."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin") if home else None)


def java_version(path: str) -> int | None:
    """The release that a Java says it is, such as 17; None of one that does not run."""
    try:
        said = subprocess.run(  # noqa: S603 - the program that Spark would start, no shell
            [path, "-version"], capture_output=True, text=True, errors="replace", timeout=JAVA_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = JAVA_VERSION.search(said.stderr + said.stdout)
    return int(found[1]) if found else None


def _require_java() -> None:
    path = java()
    if path is None:
        raise SparkMissingError(f"there is no Java: {JAVA_WAY_OUT}")
    version = java_version(path)
    if version is None:
        raise SparkMissingError(f"{path} is no Java that runs: {JAVA_WAY_OUT}")
    if version < OLDEST_JAVA:
        raise SparkMissingError(f"{path} is Java {version}, which is too old for Spark: {JAVA_WAY_OUT}")


def _answers(master: str) -> bool:
    host, _, port = master.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True
