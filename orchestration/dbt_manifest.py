"""The dbt project as Dagster and dbt read it: parsed once for the checkout, and copied into each state folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from orchestration.limits import limits, threads
from orchestration.orphans import PARENT_VARIABLE
from touchledger.settings import REPOSITORY, Settings

PROJECT = REPOSITORY / "dbt_project"
SOURCES = (".sql", ".yml", ".csv", ".md")
WRITTEN = ("target", "logs")
# for every state folder of this checkout: what is parsed names the checkout's own path, and is of no use elsewhere
KEPT = PROJECT / "target" / "parsed"
KEPT_AT_MOST = 4
# seconds after which nobody parses any more
ABANDONED = 3600.0
STATE = "partial_parse.msgpack"


class DbtParseError(RuntimeError):
    """dbt could not read the project; the text is dbt's own."""


def executable() -> str:
    """Path of `touchledger-dbt`, which stands beside the interpreter."""
    return str(Path(sys.executable).parent / "touchledger-dbt")


def target(settings: Settings) -> Path:
    """Where dbt writes its artifacts: inside the state folder, so that two deployments of one checkout do not meet."""
    return settings.home / "dbt"


def arguments(settings: Settings, folder: Path | None = None) -> list[str]:
    """The folders dbt must be told, all absolute: a relative project folder poisons dbt's partial parse."""
    written = str(folder or target(settings))
    return [
        "--project-dir",
        str(PROJECT),
        "--profiles-dir",
        str(PROJECT),
        "--target-path",
        written,
        "--log-path",
        written,
    ]


def run_dbt(settings: Settings, command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run one dbt command to its end, with its output captured; it writes into `folder`, by default the target."""
    # dbt's process reads the settings itself: without this it would work on the folder of its own environment
    environment = {
        **os.environ,
        PARENT_VARIABLE: str(os.getpid()),
        "TOUCHLEDGER_HOME": str(settings.home),
        "TOUCHLEDGER_WAREHOUSE_MEMORY_LIMIT": settings.warehouse_memory_limit,
        "TOUCHLEDGER_WAREHOUSE_THREADS": str(threads(settings)),
    }
    return subprocess.run(  # noqa: S603 - our own executable, no shell
        [executable(), *command, *arguments(settings, folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def words(done: subprocess.CompletedProcess[str]) -> str:
    """What a dbt that failed printed; how it ended where that is nothing."""
    # who kills it, as the kernel does for want of memory, leaves it no words
    ended = f"signal {-done.returncode} ended dbt" if done.returncode < 0 else f"dbt ended with {done.returncode}"
    return (done.stdout + done.stderr).strip() or f"{ended} before it told anything"


def ensure_manifest(settings: Settings) -> Path:
    """Path of an up-to-date manifest. Raises DbtParseError with dbt's words when the project cannot be parsed."""
    key = fingerprint(PROJECT, settings)
    # under a name of its own: every dbt command writes manifest.json anew, and one that is killed leaves half of it
    manifest = target(settings) / f"parsed-{key}.json"
    if not _is_whole(manifest):
        drop_others(manifest)
        if not _is_whole(KEPT / key / "manifest.json"):
            # a folder that is there could not be replaced by a new one
            shutil.rmtree(KEPT / key, ignore_errors=True)
        try:
            _take(KEPT / key, manifest)
        except OSError:
            with _parsed(settings, KEPT / key) as folder:
                _take(folder, manifest)
    return manifest


def _is_whole(manifest: Path) -> bool:
    """Whether it is there to its end: of what was written before a power cut, only the name may be."""
    try:
        with manifest.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read() == b"}"
    except OSError:
        return False


def drop_others(manifest: Path) -> None:
    """Remove older manifests beside this one; itself stays, for whoever put it there meanwhile is about to read it."""
    for old in manifest.parent.glob("parsed*.json"):
        if old != manifest:
            old.unlink(missing_ok=True)


def fingerprint(project: Path, settings: Settings) -> str:
    """Changes with whatever dbt would parse the project anew for."""
    text = repr((str(project), sys.version, version("dbt-core"), version("dbt-duckdb"), limits(settings)))
    digest = hashlib.sha256(text.encode())
    for path in sorted(_sources(project)):
        digest.update(f"\0{path.relative_to(project)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(project: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(project):
        folders[:] = [name for name in folders if name not in WRITTEN]
        yield from (Path(folder, name) for name in names if name.endswith(SOURCES))


@contextmanager
def _parsed(settings: Settings, kept: Path) -> Iterator[Path]:
    """A folder that a parse of its own has just filled; it stays as `kept` where the checkout can be written."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".", dir=kept.parent))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="touchledger-dbt-"))
    try:
        done = run_dbt(settings, ["--quiet", "parse"], folder)
        if done.returncode != 0:
            raise DbtParseError(words(done))
        yield folder
        # another process may have kept the same meanwhile, or the folder is on another disk: ours is not needed
        with suppress(OSError):
            folder.rename(kept)
            forget_old(kept.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def forget_old(parent: Path) -> None:
    """Remove all but the newest of what is kept, and what a parse that was killed left behind."""
    found = list(parent.iterdir())
    for path in found:
        if path.name.startswith(".") and time.time() - path.stat().st_mtime > ABANDONED:
            shutil.rmtree(path, ignore_errors=True)
    kept = [path for path in found if not path.name.startswith(".")]
    for path in sorted(kept, key=lambda path: path.stat().st_mtime)[:-KEPT_AT_MOST]:
        shutil.rmtree(path, ignore_errors=True)


def _take(folder: Path, manifest: Path) -> None:
    """Copy what is parsed beside and at `manifest`; the manifest last, for it tells that all is there."""
    manifest.parent.mkdir(parents=True, exist_ok=True)
    for name, final in ((STATE, manifest.with_name(STATE)), ("manifest.json", manifest)):
        copy = final.with_name(f".{final.name}.{os.getpid()}")
        shutil.copyfile(folder / name, copy)
        copy.replace(final)
