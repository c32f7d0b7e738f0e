"""The inbox: files dropped into `inbox/<profile id or _shared>/<dataset>/` are imported once each and left in place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
import structlog
from sqlalchemy.orm import Session

from api.db import transaction
from api.models import Import
from orchestration.erased_files import finish, is_being_copied
from orchestration.importer import SHARED, CannotImportError, digest_of, import_file, import_of, placed
from orchestration.lake import Lake
from orchestration.readers import legible, reader_of
from touchledger.settings import Settings

log = structlog.get_logger(__name__)

# as api/v1/imports/uploads.py calls an upload that is still written
_UPLOADED = re.compile(r"\.[0-9a-f]{16}\.part")
# (scope, dataset, sha256) of what was imported, loaded or rejected; True where only the file's name was refused
Known = Mapping[tuple[str, str, str], bool]


@dataclass(frozen=True, order=True)
class Dropped:
    """One file of the inbox: `scope` is a profile's id or `_shared`."""

    scope: str
    dataset: str
    sha256: str
    path: Path


@dataclass(frozen=True, order=True)
class NotLoaded:
    """One file of the inbox that is in no figure: its path within the inbox, and why."""

    file: str
    reason: str


def dropped(inbox: Path) -> list[Dropped]:
    """The files of the inbox, in the order of their paths; hidden and half-copied files are not looked at."""
    paths = sorted(path for path in inbox.glob("*/*/*") if not _is_unfinished(path.name))
    return [file for file in map(_looked_at, paths) if file is not None]


def _looked_at(path: Path) -> Dropped | None:
    scope, dataset = map(legible, path.parts[-3:-1])
    try:
        return Dropped(scope, dataset, digest_of(path), path) if path.is_file() else None
    except OSError as error:
        # gone since it was listed, or nothing that we may read: the other files are imported all the same
        log.warning("file in the inbox not looked at", file=legible(path), reason=str(error))
        return None


def _is_unfinished(name: str) -> bool:
    return name.startswith(".") or name.endswith(("~", ".part", ".tmp", ".crdownload", ".swp"))


def new_files(files: Iterable[Dropped], known: Known) -> list[Dropped]:
    """The files that were never imported, and those now named for a reader; of equal ones the first so named."""
    first: dict[tuple[str, str, str], Dropped] = {}
    for file in sorted(files, key=lambda one: reader_of(one.path.name) is None):
        key = (file.scope, file.dataset, file.sha256)
        if key not in known or (known[key] and reader_of(file.path.name) is not None):
            first.setdefault(key, file)
    return list(first.values())


def known_imports(url: str) -> Known:
    """Every import that ended."""
    names = (Import.scope, Import.dataset, Import.sha256, Import.status, Import.file_name)
    ended = sa.select(*names).where(Import.status.in_(("loaded", "rejected")))
    with transaction(url) as session:
        return {
            (row.scope, row.dataset, row.sha256): row.status == "rejected" and reader_of(row.file_name) is None
            for row in session.execute(ended)
        }


def waiting_files(settings: Settings) -> list[Dropped]:
    """The files that the next scan will import."""
    files = dropped(settings.inbox)
    return new_files(files, known_imports(settings.operational_url)) if files else []


def scan_inbox(settings: Settings, lake: Lake) -> list[Import]:
    """Import every new file of the inbox; what lies under no known profile or set is logged and left alone."""
    imports = []
    # else a file without somebody who was erased would be taken for a new one
    finish(settings.operational_url, lake, settings.inbox)
    _drop_broken_uploads(settings.inbox)
    for file in waiting_files(settings):
        try:
            imports.append(
                import_file(
                    settings.operational_url, lake, dataset=file.dataset, path=file.path, profile_id=_profile(file)
                )
            )
        except (CannotImportError, OSError) as error:
            log.warning("file in the inbox not imported", file=legible(file.path), reason=str(error))
    return imports


def _drop_broken_uploads(inbox: Path) -> None:
    """Remove what a process that was killed wrote of an upload: nobody was told that it was kept, nor would miss it."""
    for path in inbox.glob("*/*/.*.part"):
        if _UPLOADED.fullmatch(path.name) and not is_being_copied(path):
            path.unlink(missing_ok=True)


def with_bad_rows(url: str, imported: Iterable[Import]) -> list[Import]:
    """Of the files imported now, and of the newest of each data set of a profile, those with rows in quarantine."""
    place = sa.func.row_number().over(
        partition_by=(Import.scope, Import.dataset), order_by=(Import.created_at.desc(), Import.id.desc())
    )
    placed_ids = sa.select(Import.id, place.label("place")).where(Import.status == "loaded").subquery()
    newest = sa.select(Import).join(placed_ids, placed_ids.c.id == Import.id).where(placed_ids.c.place == 1)
    with transaction(url) as session:
        found = {one.id: one for one in [*session.scalars(newest), *imported] if one.rows_quarantined}
        session.expunge_all()
    return sorted(found.values(), key=lambda one: (one.created_at, one.id))


def not_loaded(settings: Settings) -> list[NotLoaded]:
    """What lies in the inbox and is not loaded, by path; hidden and half-copied files are not looked at."""
    inside = [path for level in ("*", "*/*", "*/*/*") for path in settings.inbox.glob(level)]
    paths = [settings.inbox, *inside] if settings.inbox.is_dir() else []
    # read before the transaction begins: that may take long
    files = {file.path: file for file in dropped(settings.inbox)}
    left = []
    with transaction(settings.operational_url) as session:
        for path in sorted(path for path in paths if not _is_unfinished(path.name)):
            within = path.relative_to(settings.inbox)
            reason = _why(session, files[path]) if path in files else _misplaced(path, len(within.parts))
            left += [NotLoaded(legible(within), reason)] if reason else []
    return left


def _why(session: Session, file: Dropped) -> str | None:
    """Why a file is not loaded; None when it is."""
    try:
        placed(session, file.dataset, _profile(file))
    except CannotImportError as error:
        return str(error)
    found = import_of(session, file.scope, file.dataset, file.sha256)
    if found is not None and found.status == "rejected" and not _is_renamed(found, file.path):
        return str(found.reason).removeprefix(f"{found.file_name}: ")
    return None if found is not None and found.status == "loaded" else "waits for the next build"


def _misplaced(path: Path, depth: int) -> str | None:
    """What is wrong with something that is no readable file in its place; None for the folders that files lie in."""
    if os.path.isdir(path):  # noqa: PTH112 - a Path raises where a folder may be listed and not entered
        if depth == 3:
            return "is a folder, in which no file is looked at"
        return (
            None if os.access(path, os.R_OK | os.X_OK) else "is a folder that cannot be opened; no file in it is loaded"
        )
    return "cannot be read" if depth == 3 else f"lies in no folder <profile id or {SHARED}>/<data set>"


def _is_renamed(rejected: Import, path: Path) -> bool:
    """Whether a file that was refused for its name has one now that says how to read it."""
    return reader_of(rejected.file_name) is None and reader_of(path.name) is not None


def _profile(file: Dropped) -> str | None:
    return None if file.scope == SHARED else file.scope
