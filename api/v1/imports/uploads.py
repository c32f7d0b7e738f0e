"""An uploaded file becomes a file of the drop folder, and a row that says what became of it."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from pathlib import Path
from typing import BinaryIO

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.models import Import
from data_contracts.contract import inbound
from data_contracts.formats import Refused
from data_contracts.values import clean_text

FORMS = re.compile(r"\.(?:(?:csv|jsonl)(?:\.gz)?|parquet)\Z", re.IGNORECASE)
# of the whole deployment, and so not a profile's to send
SHARED = frozenset({"fx_rates"})
BLOCK = 1024 * 1024
UNFINISHED = ("queued", "loading")


def dataset_of(name: str | None) -> str:
    """The data set of a form; 422 validation_error unless a profile may send it."""
    if name is None or name not in datasets():
        raise errors.VALIDATION_ERROR(f"dataset: must be one of {', '.join(datasets())}")
    return name


def datasets() -> list[str]:
    """The data sets that a profile may send, by name."""
    return sorted(set(inbound()) - SHARED)


def form_of(file_name: str) -> str:
    """The ending that tells how the file is written; 400 invalid_content for any other."""
    found = FORMS.search(file_name)
    if found is None:
        raise errors.INVALID_CONTENT("file: must be a .csv, .jsonl, .csv.gz, .jsonl.gz or .parquet file.")
    return found[0].lower()


def name_of(file_name: str | None) -> str:
    """The name as the caller gave it, trimmed; 400 invalid_content for one that no record may hold."""
    try:
        return clean_text(file_name or "")
    except Refused as refused:
        raise errors.INVALID_CONTENT(f"file: its name {refused}.") from None


def digest_of(stream: BinaryIO) -> str:
    """SHA-256 of what the stream holds; it is at its start again after."""
    digest, size = hashlib.sha256(), 0
    while block := stream.read(BLOCK):
        digest.update(block)
        size += len(block)
    stream.seek(0)
    if size == 0:
        raise errors.INVALID_CONTENT("file: is empty.")
    return digest.hexdigest()


def queue(session: Session, profile_id: str, dataset: str, file_name: str, sha256: str) -> tuple[Import, bool, bool]:
    """The import of these bytes, whether the file must be put in place, and whether the import begins with that.

    A rejected one is tried again, under the name that it is given now.
    """
    same = sa.and_(Import.scope == profile_id, Import.dataset == dataset, Import.sha256 == sha256)
    chosen = sa.select(Import).where(same).with_for_update()
    earlier = session.scalars(chosen).one_or_none()
    if earlier is None:
        made = _new(profile_id, dataset, file_name, sha256)
        try:
            with session.begin_nested():
                session.add(made)
            return made, True, True
        except sa.exc.IntegrityError:
            # the same bytes came at the same moment
            earlier = session.scalars(chosen).one()
    is_due, is_begun = earlier.status != "loaded", earlier.status == "rejected"
    if is_begun:
        earlier.status, earlier.reason, earlier.file_name = "queued", None, file_name[:255]
    return earlier, is_due, is_begun


def _new(profile_id: str, dataset: str, file_name: str, sha256: str) -> Import:
    return Import(
        profile_id=profile_id, scope=profile_id, dataset=dataset, file_name=file_name[:255], sha256=sha256,
        status="queued", rows_in=0, rows_loaded=0, rows_quarantined=0, errors=[],
    )  # fmt: skip


def put_upload(stream: BinaryIO, folder: Path, sha256: str, form: str) -> None:
    """Write an uploaded file into the drop folder, in place of the same bytes sent under another ending."""
    put(stream, folder, f"{sha256}{form}")
    for other in folder.glob(f"{sha256}.*"):
        if other.name != f"{sha256}{form}":
            other.unlink(missing_ok=True)


def put(stream: BinaryIO, folder: Path, name: str) -> None:
    """Write the file into the drop folder, whole and durable, where the next build finds it."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{secrets.token_hex(8)}.part"
    try:
        with part.open("xb") as file:
            shutil.copyfileobj(stream, file, BLOCK)
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / name)
    finally:
        part.unlink(missing_ok=True)
