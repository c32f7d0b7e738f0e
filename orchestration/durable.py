"""Files that are there whole or not at all, also after a crash of the machine."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PIECE = 2**20
NOWHERE = "is a link that leads nowhere"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create the folder and its parents, and make their names durable."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        _sync(path.parent)


def require_open(root: Path, *, depth: int, linked: int) -> None:
    """Raise OSError for a folder under `root`, at most so deep, whose files a glob passes over.

    That is one which may not be read, a link to a folder that lies deeper than `linked`, and a link, `root` itself
    too, that leads nowhere: all that is written below it would be lost, and what it led to is missed by nobody.
    """
    for level in range(depth + 1):
        for path in root.glob("/".join("*" * level)) if level else (root,):
            _require_target(path)
            if not os.path.isdir(path):  # noqa: PTH112 - a Path may raise
                continue
            if not os.access(path, os.R_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            if level > linked and path.is_symlink():
                raise OSError(errno.ELOOP, "is a link, which is not followed so deep", str(path))


def _require_target(path: Path) -> None:
    if not path.is_symlink():
        # what is written beside this look may be gone already
        return
    try:
        path.stat()
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, NOWHERE, str(path)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def put_in_place(temporary: Path, final: Path) -> None:
    """Give a finished temporary file its final name, replacing what had it."""
    _sync(temporary)
    temporary.replace(final)
    _sync(final.parent)


def remove(*paths: Path) -> None:
    """Remove what is there of the files, and of the folders with all they hold; a crash brings none of it back."""
    there = [path for path in paths if path.exists()]
    for path in there:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for folder in {path.parent for path in there}:
        _sync(folder)


def discard(path: Path) -> None:
    """Remove a file that could not be written to its end, and free its room also where somebody holds it open."""
    with suppress(FileNotFoundError):
        os.truncate(path, 0)
    path.unlink(missing_ok=True)


@contextmanager
def unfinished(temporary: Path) -> Iterator[Path]:
    """A file that the block writes; it goes where that raises, for on a full disk it would hold what all else lacks."""
    try:
        yield temporary
    except BaseException:
        discard(temporary)
        raise


def checksum(path: Path) -> str:
    """CRC-32 of the file's bytes in hex digits: it tells damage by chance, not an enemy's."""
    found = 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            found = zlib.crc32(piece, found)
    return f"{found:08x}"


def write_text(path: Path, text: str) -> None:
    """Replace the file by one with this text."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    put_in_place(temporary, path)


@contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the file's lock; gives False, without it, where another holds it and that is not waited for.

    The system frees it when the process dies.
    """
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = True
        except BlockingIOError:
            is_ours = False
        yield is_ours
