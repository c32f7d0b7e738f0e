"""A person taken out of the files of the inbox: each is rewritten in its own form, and stays the import it was."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
import structlog

from api.db import transaction
from api.erased import Person
from api.models import Import
from data_contracts.contract import inbound
from orchestration import durable
from orchestration.importer import digest_of
from orchestration.readers import parquet_parts
from orchestration.text_lines import LONGEST_RECORD

log = structlog.get_logger(__name__)

Known = Mapping[str, Any]
# since a hidden file was last written
BEING_COPIED_SECONDS = 3600
# zlib's number for data with the head of a gzip file
GZIP = 31
# the heads of gzip data and of text of two bytes a letter: such bytes have zeros, and are looked at all the same
TOLD = (b"\x1f\x8b", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# all that readers raise over bytes of any kind: a time zone nobody knows is a KeyError, a far instant an OverflowError
UNREADABLE = (
    ValueError, TypeError, LookupError, ArithmeticError, RecursionError, csv.Error, zlib.error, EOFError, OSError,
    pa.ArrowException,
)  # fmt: skip


def rewrite_inbox(url: str, inbox: Path, person: Person) -> int:
    """Rename the person in the profile's files, and in their names; gives how many were rewritten.

    Those that lie where no build looks are among them, and what a broken copy left. A file that cannot be read is
    removed where it holds the person's bytes, or where its bytes do not tell: no build reads it either. Of files that
    are equal without the person one stays, with its import.
    """
    changed, folder = 0, inbox / person.profile_id
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _is_being_copied(path):
            changed += _rewrite(url, path, person, _known(path.relative_to(folder))) | _rename(path, person)
    return changed


def _is_being_copied(path: Path) -> bool:
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
    name = person.text(path.name)
    if name == path.name or not path.exists():
        return False
    while path.with_name(name).exists():
        name = f"also {name}"
    durable.put_in_place(path, path.with_name(name))
    return True


def _rewrite(url: str, path: Path, person: Person, known: Known) -> bool:
    dataset, packed = path.parent.name, path.suffix.lower() == ".gz"
    change = CHANGES.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    content = path.read_bytes()
    try:
        content = gzip.decompress(content) if packed else content
        fresh = change(content, person, known) if change else None
    except UNREADABLE:
        fresh = None
    if fresh is None:
        return _remove(path, content, person)
    if fresh == content:
        return False
    before = digest_of(path)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(gzip.compress(fresh, mtime=0) if packed else fresh)
    durable.put_in_place(temporary, path)
    if not _remember(url, person.profile_id, dataset, before, digest_of(path)):
        durable.remove(path)
    return True


def _remove(path: Path, content: bytes, person: Person) -> bool:
    # without its zeros, text of two bytes a letter is read like any other
    looked_at = (content.replace(b"\0", b""), _beginning(content))
    names_them = any(person.pattern.search(one.decode("utf-8", "replace")) for one in looked_at)
    if not names_them and not _is_packed(content):
        return False
    durable.remove(path)
    log.warning("unreadable file of an erased person removed from the inbox", dataset=path.parent.name)
    return True


def _is_packed(content: bytes) -> bool:
    """Whether the bytes do not tell whom they name: a Parquet file, a workbook, an archive."""
    return b"\0" in content and not content.startswith(TOLD)


def _beginning(content: bytes) -> bytes:
    """What damaged gzip data tells up to the damage; nothing for data of another kind."""
    found, unpacker = io.BytesIO(), zlib.decompressobj(GZIP)
    try:
        for at in range(len(content)):
            # byte by byte, since a piece with damage in it gives nothing at all
            found.write(unpacker.decompress(content[at : at + 1]))
            unpacker = zlib.decompressobj(GZIP) if unpacker.eof else unpacker
    except zlib.error:
        pass
    return found.getvalue()


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


def _csv(content: bytes, person: Person, known: Known) -> bytes:
    before = csv.field_size_limit(LONGEST_RECORD)
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    finally:
        csv.field_size_limit(before)
    header, changed, out = rows[0] if rows else [], False, io.StringIO(newline="")
    _check_names(header, person)
    writer = csv.writer(out)
    writer.writerow(header)
    for row in rows[1:]:
        record = dict(zip(header, row, strict=True)) if row else {}
        after = person.renamed(record, known)
        changed = changed or any((value or "") != record[name] for name, value in after.items())
        writer.writerow(["" if value is None else value for value in after.values()])
    return out.getvalue().encode() if changed else content


def _check_names(names: list[str], person: Person) -> None:
    """Raises ValueError where the columns have no names of their own, so that the person may stand in a name."""
    if len({*names}) < len(names) or any(map(person.pattern.search, names)):
        raise ValueError("not names of columns")


def _jsonl(content: bytes, person: Person, known: Known) -> bytes:
    # a line ends where it does for the importer: not at every sign that Unicode takes for the end of a line
    lines = io.StringIO(content.decode("utf-8-sig"), newline="")
    return "".join(_json_line(line, person, known) for line in lines).encode()


def _json_line(line: str, person: Person, known: Known) -> str:
    if not line.strip():
        return line
    record = json.loads(line, parse_float=str)
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    _check_names([*record], person)
    after = person.renamed(record, known)
    # of a name that stands twice only the last value was looked at
    return line if after == record and not person.pattern.search(line) else json.dumps(after) + "\n"


def _parquet(content: bytes, person: Person, known: Known) -> bytes:
    schema = pq.read_schema(pa.BufferReader(content)).remove_metadata()
    _check_names(schema.names, person)
    is_changed, sink = False, pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema) as writer:
        for part in parquet_parts(pa.BufferReader(content)):
            rows = part.to_pylist()
            after = [person.renamed(row, known) for row in rows]
            is_changed |= after != rows
            writer.write_table(pa.Table.from_pylist(after, schema=schema))
    return bytes(sink.getvalue().to_pybytes()) if is_changed else content


CHANGES: Mapping[str, Callable[[bytes, Person, Known], bytes]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
