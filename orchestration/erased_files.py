"""A person taken out of the files of the inbox: each is rewritten in its own form, and stays the import it was."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
import structlog

from api.db import transaction
from api.erased import Person
from api.models import Import
from data_contracts.contract import inbound
from orchestration import durable
from orchestration.batch_file import Place
from orchestration.erased_lake import move_batch
from orchestration.erased_parquet import renamed_part
from orchestration.importer import SOURCE, digest_of
from orchestration.lake import Lake
from orchestration.readers import parquet_parts, whole
from orchestration.text_lines import LONGEST_RECORD, Lines, text_of
from orchestration.told_bytes import may_name

log = structlog.get_logger(__name__)

Known = Mapping[str, Any]
# each line or row as it is to be written, and whether that differs from what was read
TextLines = Callable[[Path, Person, Known], Iterator[tuple[str, bool]]]
# ends the name of what tells of a rewritten file whose import may still be that of the bytes before
NOTED = ".rewritten"
# bytes
LONGEST_NAME = 255
# since a hidden file was last written
BEING_COPIED_SECONDS = 3600

# all that readers raise over bytes of any kind: a time zone nobody knows is a KeyError, a far instant an OverflowError
UNREADABLE = (
    ValueError, TypeError, LookupError, ArithmeticError, RecursionError, csv.Error, zlib.error, EOFError, OSError,
    pa.ArrowException,
)  # fmt: skip


def rewrite_inbox(url: str, lake: Lake, inbox: Path, person: Person) -> int:
    """Rename the person in the profile's files, in their names and those of folders; gives how many were changed.

    Those that lie where no build looks are among them, and what a broken copy left. A file that cannot be read is
    removed where it holds the person's bytes, or where its bytes do not tell: no build reads it either. Of files that
    are equal without the person one stays, with its import.
    """
    changed, folder = 0, inbox / person.profile_id
    finish(url, lake, folder)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not is_being_copied(path):
            changed += _rewrite(url, lake, path, person, _known(path.relative_to(folder))) | _rename(path, person)
    # those within others first; what lies in a data set's own folder is looked for there
    for path in sorted((one for one in folder.rglob("*") if one.is_dir()), reverse=True):
        if path.parent != folder or path.name not in inbound():
            changed += _rename(path, person)
    return changed


def is_being_copied(path: Path) -> bool:
    """Whether a hidden file may be half of one that is on its way; of a copy that broke, nobody removes it."""
    if not path.name.startswith("."):
        return False
    try:
        return path.stat().st_ctime > time.time() - BEING_COPIED_SECONDS
    except FileNotFoundError:
        # it is whole now, under its own name
        return True


def _known(place: Path) -> Known:
    """The columns of the files there; none where no build reads them."""
    dataset = place.parts[0]
    return inbound()[dataset].column if len(place.parts) == 2 and dataset in inbound() else {}


def _rename(path: Path, person: Person) -> bool:
    if person.text(path.name) == path.name or not path.exists():
        return False
    name = _short(person.text(path.name), person)
    while path.with_name(name).exists():
        name = _short(f"also {name}", person)
    durable.put_in_place(path, path.with_name(name))
    return True


def _short(name: str, person: Person) -> str:
    """The name, or a random one of the same kind of file where it is longer than names can be."""
    if len(os.fsencode(name)) <= LONGEST_NAME:
        return name
    kind = _kind(Path(name))
    return f"{person.name('file', name)}{kind if kind in WRITERS else ''}"


def _rewrite(url: str, lake: Lake, path: Path, person: Person, known: Known) -> bool:
    write = WRITERS.get(_kind(path))
    temporary = _unfinished(path)
    try:
        is_changed = write(path, temporary, person, known) if write else None
    except UNREADABLE as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # the disk's fault: the file is not to be taken for a broken one
            raise
        is_changed = None
    if is_changed is None:
        return _remove(path, person)
    if not is_changed:
        return False
    before, after = digest_of(path), digest_of(temporary)
    # a backup holds it too: of a batch, its file and its import it would have some as before and others as after
    with durable.exclusive(lake.root / ".lock"):
        # what was landed of a file goes by its digest: under the old one nobody finds it, and it tells of the person
        move_batch(lake, Place(path.parent.name, person.profile_id, SOURCE, before), after)
        # whoever is killed between the file and its import: the next to look knows by this whose import it is
        note = path.with_name(f".{after}{NOTED}")
        durable.write_text(note, json.dumps([person.profile_id, path.name, before]))
        durable.put_in_place(temporary, path)
        _let_follow(url, note)
    return True


def finish(url: str, lake: Lake, folder: Path) -> None:
    """Let imports follow the files below the folder that a killed erasure had rewritten."""
    for note in folder.rglob(f".*{NOTED}"):
        with durable.exclusive(lake.root / ".lock"):
            _let_follow(url, note)


def _let_follow(url: str, note: Path) -> None:
    profile_id, name, before = json.loads(note.read_text(encoding="utf-8"))
    path, after = note.with_name(name), note.name[1 : -len(NOTED)]
    is_rewritten = path.exists() and digest_of(path) == after
    if is_rewritten and not _remember(url, profile_id, path.parent.name, before, after):
        durable.remove(path)
    durable.remove(note)


def _unfinished(path: Path) -> Path:
    """Where the file is written anew: a longer name than its own may be longer than names can be."""
    return path.with_name(f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()}.tmp")


def _kind(path: Path) -> str:
    return "".join(path.suffixes[-2:] if _is_gz(path) else [path.suffix]).lower()


def _is_gz(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _remove(path: Path, person: Person) -> bool:
    if not may_name(path, person):
        return False
    durable.remove(path)
    log.warning("unreadable file of an erased person removed from the inbox", dataset=path.parent.name)
    return True


def _remember(url: str, profile_id: str, dataset: str, before: str, after: str) -> bool:
    """The rewritten file is the import that the first one was; False where another import has these bytes already.

    Then the first one goes: its digest would be a digest of the person.
    """
    same = (Import.scope == profile_id, Import.dataset == dataset)
    with transaction(url) as session:
        earlier = session.scalars(sa.select(Import).where(*same, Import.sha256 == before)).one_or_none()
        if earlier is None:
            return True
        if session.scalar(sa.select(Import.id).where(*same, Import.sha256 == after)) is not None:
            session.delete(earlier)
            return False
        earlier.sha256 = after
    return True


class _Told:
    """A file whose `write` gives back what is written, and so does each row of a CSV writer to it."""

    @staticmethod
    def write(text: str) -> str:
        return text


def _text(lines: TextLines, path: Path, temporary: Path, person: Person, known: Known) -> bool:
    """Whether any line names the person; then all are in `temporary`, without. Few lines are held at once."""
    before = csv.field_size_limit(LONGEST_RECORD)
    try:
        if not any(is_changed for _, is_changed in lines(path, person, known)):
            return False
        with _written(temporary, packed=_is_gz(path)) as out:
            out.writelines(text for text, _ in lines(path, person, known))
        return True
    finally:
        csv.field_size_limit(before)


@contextmanager
def _written(temporary: Path, *, packed: bool) -> Iterator[TextIO]:
    with temporary.open("wb") as raw:
        # neither a name nor a time, so that files of equal content are equal
        whole = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if packed else raw
        with whole, io.TextIOWrapper(whole, encoding="utf-8", newline="") as out:
            yield out


def _csv(path: Path, person: Person, known: Known) -> Iterator[tuple[str, bool]]:
    writer = csv.writer(_Told())
    with text_of(path) as file:
        lines = Lines(file)
        rows = csv.reader(lines, strict=True)
        header = next(rows, [])
        _check_names(header, person)
        yield writer.writerow(header), False
        lines.begin_record()
        for row in rows:
            # a row of empty cells may be of any width
            record = dict(zip(header, row, strict=True)) if any(map(str.strip, row)) else {}
            after = person.renamed(record, known)
            is_changed = any((value or "") != record[name] for name, value in after.items())
            yield writer.writerow(["" if value is None else value for value in after.values()]), is_changed
            lines.begin_record()


def _check_names(names: list[str], person: Person) -> None:
    """Raises ValueError where the columns have no names of their own, so that the person may stand in a name."""
    if len({*names}) < len(names) or any(map(person.pattern.search, names)):
        raise ValueError("not names of columns")


def _jsonl(path: Path, person: Person, known: Known) -> Iterator[tuple[str, bool]]:
    with text_of(path) as file:
        # a line ends where it does for the importer: not at every sign that Unicode takes for the end of a line
        lines = Lines(file)
        for line in lines:
            after = _json_line(line, person, known)
            yield after, after != line
            lines.begin_record()


def _json_line(line: str, person: Person, known: Known) -> str:
    if not line.strip():
        return line
    record = json.loads(line, parse_float=str, parse_int=whole)
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    _check_names([*record], person)
    after = person.renamed(record, known)
    # of a name that stands twice only the last value was looked at
    return line if after == record and not person.pattern.search(line) else json.dumps(after) + "\n"


def _parquet(path: Path, temporary: Path, person: Person, known: Known) -> bool:
    # also of columns that had a value in each row something may be taken out
    schema = pa.schema([column.with_nullable(True) for column in pq.read_schema(path)])
    _check_names(schema.names, person)
    is_changed = False
    with pq.ParquetWriter(temporary, schema) as writer:
        for part in parquet_parts(path):
            fresh, some_changed = renamed_part(part, person, known)
            is_changed |= some_changed
            columns = [column.cast(of.type) for column, of in zip(fresh, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    if not is_changed:
        temporary.unlink()
    return is_changed


WRITERS: Mapping[str, Callable[[Path, Path, Person, Known], bool]] = {
    ".csv": partial(_text, _csv),
    ".jsonl": partial(_text, _jsonl),
    ".csv.gz": partial(_text, _csv),
    ".jsonl.gz": partial(_text, _jsonl),
    ".parquet": _parquet,
}
