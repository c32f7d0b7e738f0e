"""What the lake holds that the warehouse does not know yet, so that a build computes anew only what that touches.

A build starts from the base of the one before: the models it ran, and the files it read with their sizes, times and
landing numbers. Without a base (none yet, other models, a build that failed or ran in part) a build is whole.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import uuid_utils

from orchestration import durable
from orchestration.dbt_commands import FULL_REFRESH, fully, is_whole, judges, writes
from orchestration.dbt_manifest import PROJECT, fingerprint
from orchestration.gathered import is_gathered
from orchestration.lake_changes import KEYS, take_over, tell_changes
from orchestration.landed_facts import DamagedRawFileError, read_facts, withdraws
from touchledger.settings import Settings

# new records of a data set up to which a build keeps rows, however few are known
MANY = 200_000
# builds that keep rows before one makes everything anew: each leaves some space of its deleted rows unused
MOST = 200
# looks at a lake into which somebody lands meanwhile, before a build does without knowing what is new
LOOKS = 5


@dataclass(frozen=True)
class Landed:
    """A file of the lake as it was read: bytes, nanoseconds of its last change, its landing number and its rows.

    `withdraws` tells whether one of those takes a record back; a base of an older release does not know.
    """

    size: int
    changed_at: int
    seq: int
    rows: int
    withdraws: bool = True


@dataclass(frozen=True)
class Base:
    """What the warehouse was built from: a fingerprint of its models, and the files it followed by path in the lake.

    `increments` are the builds since the last whole one, and `whole` is that one's own id. `build` is this build's own,
    and `before` that of the build whose rows it kept; empty where it kept none. `judged` tells whether data tests ran.
    """

    models: str
    files: dict[str, Landed]
    increments: int = 0
    whole: str = ""
    build: str = ""
    before: str = ""
    judged: bool = False


def begin(settings: Settings, arguments: Sequence[str]) -> tuple[list[str], Base | None]:
    """The arguments dbt is to be called with, and the base that its success makes; None where it makes none.

    The base before is gone from here on, so that a run that does not end well is followed by a whole build. Where the
    build can be an increment, the warehouse's schema `changes` tells what is new.
    """
    if not writes(arguments):
        return list(arguments), None
    before = _take_base(settings)
    files = _files(settings, before.files if before else {}) if is_whole(arguments) else None
    if files is None:
        return fully(arguments), None
    build = str(uuid_utils.uuid7())
    models = f"{fingerprint(PROJECT, settings)}:{version('duckdb')}"
    now = Base(models, files, whole=build, build=build, judged=judges(arguments))
    left_by = take_over(settings, build)
    if before is None or FULL_REFRESH in arguments or not _can_follow(now, before, left_by):
        return fully(arguments), now
    for _ in range(LOOKS):
        _tell(settings, now, before)
        # dbt reads the lake's touches and conversions in what was told, which must be what the base says, no more
        files = _files(settings, now.files)
        if files == now.files:
            return list(arguments), replace(
                now, increments=before.increments + 1, whole=before.whole or now.whole, before=before.build
            )
        if files is None:
            return fully(arguments), None
        now = replace(now, files=files)
    return fully(arguments), now


def _can_follow(now: Base, before: Base, left_by: str) -> bool:
    # an older warehouse that somebody put back lacks what the base says was read, and no later build would bring it
    if before.models != now.models or left_by != before.build or before.increments >= MOST:
        return False
    if _lacks_gathered(now, before):
        return False
    # the tests of a build that keeps rows look at what came with it
    if now.judged and not before.judged:
        return False
    new = _unlike(now.files, before.files)
    return not any(is_much(_rows(new, dataset), _rows(before.files, dataset)) for dataset in KEYS)


def _lacks_gathered(now: Base, before: Base) -> bool:
    """Whether a file of several landings went or changed otherwise than into a new one of its folder.

    It tells the number of its newest landing alone, so nobody knows whose rows are to go.
    """
    gone, new = (
        {Path(path).parent for path in _unlike(one.files, other.files) if is_gathered(Path(path).name)}
        for one, other in ((before, now), (now, before))
    )
    changed = any(is_gathered(Path(path).name) and path in now.files for path in _unlike(before.files, now.files))
    return changed or not gone <= new


def _tell(settings: Settings, now: Base, before: Base) -> None:
    gone = _unlike(before.files, now.files)
    tell_changes(
        settings,
        list(_unlike(now.files, before.files)),
        sorted({file.seq for file in gone.values()}),
        withdrew={path.split("/")[1] for path, file in gone.items() if file.withdraws},
    )


def _unlike(files: dict[str, Landed], others: dict[str, Landed]) -> dict[str, Landed]:
    return {path: file for path, file in files.items() if others.get(path) != file}


def is_much(new: int, known: int) -> bool:
    """Whether so many new records beside those known are built faster by making everything anew, piece by piece."""
    return new > MANY and new * 5 > known


def _rows(files: dict[str, Landed], dataset: str) -> int:
    return sum(file.rows for path, file in files.items() if path.startswith(f"raw/{dataset}/"))


def end(settings: Settings, base: Base) -> None:
    """Keep what the finished build was made from.

    A whole build reads the lake itself, at no single moment. Where something landed meanwhile nobody knows what of it
    was read, nor whose rows are to go when it is replaced: no base is kept, and the next build is whole too.
    """
    if base.increments == 0 and _files(settings, base.files) != base.files:
        return
    told = {
        "models": base.models,
        "increments": base.increments,
        "whole": base.whole,
        "build": base.build,
        "before": base.before,
        "judged": base.judged,
        "files": {path: astuple(file) for path, file in base.files.items()},
    }
    durable.write_text(_path(settings), json.dumps(told))


class Builds(NamedTuple):
    """Ids of the whole build that the warehouse goes back to, of its newest build, and of the one whose rows that kept.

    Each is empty where nobody knows it.
    """

    whole: str
    newest: str
    before: str


def builds(settings: Settings) -> Builds:
    """The builds behind the warehouse."""
    told = _told(settings)
    return Builds(told.get("whole", ""), told.get("build", ""), told.get("before", ""))


def forget(settings: Settings) -> None:
    """Make the next build a whole one."""
    durable.remove(_path(settings))


def _path(settings: Settings) -> Path:
    return settings.home / "warehouse.base"


def _told(settings: Settings) -> dict[str, Any]:
    """What the file says; nothing where there is none, or a damaged one, which the next whole build replaces."""
    path = _path(settings)
    try:
        told = json.loads(path.read_text()) if path.exists() else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _take_base(settings: Settings) -> Base | None:
    told = _told(settings)
    forget(settings)
    try:
        return Base(
            told["models"],
            {name: Landed(*facts) for name, facts in told["files"].items()},
            told.get("increments", 0),
            told.get("whole", ""),
            told.get("build", ""),
            judged=told.get("judged", False),
        )
    except (KeyError, TypeError, AttributeError):
        # a newer release, which was taken back, told other things of a file
        return None


def _files(settings: Settings, known: dict[str, Landed]) -> dict[str, Landed] | None:
    """The files that are followed; those that are as known are not read.

    None where a file does not tell its landing: it was not landed by us, and nobody knows when it changes.
    """
    files = {}
    for path in sorted(path for one in KEYS for path in (settings.lake / "raw" / one).glob("*/*/*.parquet")):
        name, status = str(path.relative_to(settings.lake)), path.stat()
        same = known.get(name)
        if same is None or (same.size, same.changed_at) != (status.st_size, status.st_mtime_ns):
            try:
                facts = read_facts(path)
            except DamagedRawFileError:
                return None
            same = Landed(status.st_size, status.st_mtime_ns, facts.seq, facts.rows_loaded, withdraws(path))
        files[name] = same
    return files
