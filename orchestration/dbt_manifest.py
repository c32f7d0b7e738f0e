"""The dbt project as Dagster reads it: a manifest in the state folder, parsed anew when a file changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from touchledger.settings import REPOSITORY, Settings

PROJECT = REPOSITORY / "dbt_project"
SOURCES = (".sql", ".yml", ".csv")


class DbtParseError(RuntimeError):
    """dbt could not read the project; the text is dbt's own."""


def executable() -> str:
    """Path of `touchledger-dbt`, which stands beside the interpreter."""
    return str(Path(sys.executable).parent / "touchledger-dbt")


def target(settings: Settings) -> Path:
    """Where dbt writes its artifacts: inside the state folder, so that two deployments of one checkout do not meet."""
    return settings.home / "dbt"


def arguments(settings: Settings) -> list[str]:
    """The folders dbt must be told, all absolute: a relative project folder poisons dbt's partial parse."""
    folder = str(target(settings))
    return [
        "--project-dir",
        str(PROJECT),
        "--profiles-dir",
        str(PROJECT),
        "--target-path",
        folder,
        "--log-path",
        folder,
    ]


def run_dbt(settings: Settings, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run one dbt command to its end, with its output captured."""
    # dbt's process reads the settings itself: without this it would work on the folder of its own environment
    environment = {**os.environ, "TOUCHLEDGER_HOME": str(settings.home)}
    return subprocess.run(  # noqa: S603 - our own executable, no shell
        [executable(), *command, *arguments(settings)], env=environment, capture_output=True, text=True, check=False
    )


def ensure_manifest(settings: Settings) -> Path:
    """Path of an up-to-date manifest. Raises DbtParseError with dbt's words when the project cannot be parsed."""
    manifest = target(settings) / "parsed.json"
    if not manifest.exists() or manifest.stat().st_mtime < _changed_at():
        done = run_dbt(settings, ["--quiet", "parse"])
        if done.returncode != 0:
            raise DbtParseError((done.stdout + done.stderr).strip())
        _keep(target(settings) / "manifest.json", manifest)
    return manifest


def _keep(written: Path, kept: Path) -> None:
    # every dbt command writes its manifest anew, in place: one that is killed leaves half of it
    copy = kept.with_suffix(f".{os.getpid()}")
    shutil.copyfile(written, copy)
    copy.replace(kept)


def _changed_at() -> float:
    return max(path.stat().st_mtime for path in PROJECT.rglob("*") if path.suffix in SOURCES)
