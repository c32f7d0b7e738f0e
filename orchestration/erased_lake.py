"""A person taken out of the lake: raw files and quarantine are rewritten whole where they mention the person."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from api.erased import ENTITIES, IDENTIFIERS, LINKS, Person, identifiers
from data_contracts.contract import Contract, inbound, internal
from data_contracts.records import as_json
from orchestration import durable
from orchestration.batch_file import Place
from orchestration.lake import Lake
from orchestration.landed_facts import META_KEY, read_facts, reading

Values = Mapping[str, list[str]]


def told() -> Mapping[str, Contract]:
    """The sets of a profile that may tell of a person."""
    about = {name: one for name, one in internal().items() if any(column.personal for column in one.columns)}
    return {**inbound(), **about}


def rewrite_lake(
    lake: Lake, person: Person, values: Values, *, learnt: Callable[[Mapping[str, int]], None] = lambda _: None
) -> Counter[str]:
    """Rename the person in every raw file and quarantine file of the profile; gives the rewritten rows by data set.

    `values` are the person's identifiers by kind. `learnt` is called with what is about to be rewritten, once the
    person knows what ties records to it: rewritten files do not tell that any more. What a crash left undone is done
    when called again with a person who knows it.
    """
    changed: Counter[str] = Counter()
    with durable.exclusive(lake.root / ".lock"):
        for _, path in _files(lake.raw, person.profile_id):
            _follow(path, person, values)
        raw, rejected = [], []
        for dataset, path in _files(lake.raw, person.profile_id):
            if rows := _raw_rows(path, person, values):
                raw.append(path)
                changed[dataset] += rows
        for dataset, path in _files(lake.quarantine, person.profile_id):
            if rows := _rejected_rows(dataset, path, person):
                rejected.append((dataset, path))
                changed[dataset] += rows
        learnt(changed)
        for path in raw:
            _rewrite_raw(path, person, values)
        for dataset, path in rejected:
            _rewrite_quarantine(dataset, path, person)
    return changed


def move_batch(lake: Lake, place: Place, name: str) -> None:
    """Give a landed batch another name, with its quarantine and at its place in the order of landings.

    Nothing where it is not landed; where the other name is, as after a crash, that batch stays alone. Raises OSError.
    The caller holds the lake's lock.
    """
    moved, raw = replace(place, batch=name), lake.raw / place.file
    if not raw.exists() or name == place.batch:
        return
    facts = read_facts(raw)
    quarantine = [lake.quarantine / place.folder / facts.quarantine] if facts.quarantine else []
    if not (lake.raw / moved.file).exists():
        beside = facts.quarantine and f"{name}{facts.quarantine.removeprefix(place.batch)}"
        for path in quarantine:
            _write(path, _parts(path), {}, path.with_name(str(beside)))
        renamed = json.dumps(asdict(replace(facts, quarantine=beside)), sort_keys=True).encode()
        _write(raw, _of_batch(_parts(raw), name), {META_KEY: renamed}, lake.raw / moved.file)
    # the raw file first: without it the quarantine is removed as nobody's
    durable.remove(raw)
    durable.remove(*quarantine)


def _of_batch(tables: Iterable[pa.Table], name: str) -> Iterator[pa.Table]:
    for table in tables:
        place = table.schema.get_field_index("_batch")
        named = pa.array([name] * table.num_rows, pa.string())
        yield table.set_column(place, table.schema.field(place), named)


def told_beside(lake: Lake, person: Person) -> set[tuple[str, str]]:
    """(kind, value) of what quarantined records name beside the person's own identifiers, and no others of them name.

    No model reads such records, so it is not among what is known to be the person's.
    """
    beside: set[tuple[str, str]] = set()
    elsewhere: set[tuple[str, str]] = set()
    for _, path in _files(lake.quarantine, person.profile_id):
        for table in _parts(path):
            for record in map(_read, table["record"].to_pylist()):
                named = {(kind, value) for _, kind, value in identifiers(record) if not person.owns(kind, value)}
                (beside if person.speaks(record) else elsewhere).update(named)
    return beside - elsewhere


def _read(record: str) -> dict[str, Any]:
    try:
        return dict(json.loads(record))
    except ValueError:
        return {"x_unreadable": record}


def _files(root: Path, profile_id: str) -> Iterator[tuple[str, Path]]:
    for dataset in told():
        for path in sorted((root / dataset / profile_id).glob("*/*.parquet")):
            yield dataset, path


def _mentions(table: pa.Table, values: Values) -> pa.Array:
    """Which rows name one of the identifiers in a column made for it."""
    # of no rows, Arrow would take it for nulls
    found = pa.array([False] * table.num_rows, pa.bool_())
    for kind in IDENTIFIERS:
        known = pa.array(values.get(kind, []), pa.string())
        if kind in table.schema.names:
            found = pc.or_(found, pc.is_in(table[kind].combine_chunks(), known))
        for side in ("a", "b"):
            if f"value_{side}" in table.schema.names:
                of_kind = pc.equal(table[f"kind_{side}"].combine_chunks(), kind)
                found = pc.or_(found, pc.and_(of_kind, pc.is_in(table[f"value_{side}"].combine_chunks(), known)))
    return pc.fill_null(found, False)


def _follow(path: Path, person: Person, values: Values) -> None:
    for table in _parts(path):
        for row in table.filter(_mentions(table, values)).to_pylist():
            person.read(row)


def _parts(path: Path) -> Iterator[pa.Table]:
    """The rows of a file as they were written, some at a time."""
    with reading(path), pq.ParquetFile(path) as file:
        yield from map(file.read_row_group, range(file.num_row_groups))


def _raw_rows(path: Path, person: Person, values: Values) -> int:
    return sum(pc.sum(_theirs(table, person, values)).as_py() or 0 for table in _parts(path))


def _rewrite_raw(path: Path, person: Person, values: Values) -> None:
    # the hash of what came in is a hash of the person too; without it the next equal delivery is judged anew
    facts = replace(read_facts(path), content="", origin=None)
    fresh = (_renamed(table, _theirs(table, person, values), person) for table in _parts(path))
    _write(path, fresh, {META_KEY: json.dumps(asdict(facts), sort_keys=True).encode()})


def _theirs(table: pa.Table, person: Person, values: Values) -> pa.Array:
    return pc.or_(_mentions(table, values), _tied(table, person))


def _renamed(table: pa.Table, mask: pa.Array, person: Person) -> pa.Table:
    rows = [_visible(row, person) for row in table.filter(mask).to_pylist()]
    fresh = pa.Table.from_pylist(rows, schema=table.schema)
    for index, name in enumerate(table.schema.names):
        column = pc.replace_with_mask(table[name].combine_chunks(), mask, fresh[name].combine_chunks())
        table = table.set_column(index, table.schema.field(index), column)
    return table


def _tied(table: pa.Table, person: Person) -> pa.Array:
    """Which rows hold a value that ties them to the person, or a text that tells the person."""
    # of no rows, Arrow would take it for nulls
    found = pa.array([False] * table.num_rows, pa.bool_())
    for name in LINKS:
        if name in table.schema.names and person.links.get(name):
            known = pa.array(sorted(person.links[name]), pa.string())
            found = pc.or_(found, pc.is_in(table[name].combine_chunks(), known))
    names = [one.name for one in table.schema if pa.types.is_string(one.type) and one.name not in ENTITIES]
    # to make a pattern ready costs more than to look for it: once for all columns, one below the other
    texts = pa.concat_arrays([table[name].combine_chunks() for name in names])
    for pattern in person.parts:
        told = pc.fill_null(pc.match_substring_regex(texts, pattern, ignore_case=True), False)
        for place in range(len(names)):
            found = pc.or_(found, told.slice(place * table.num_rows, table.num_rows))
    return pc.fill_null(found, False)


def _visible(row: dict[str, Any], person: Person) -> dict[str, Any]:
    stamps = {name: value for name, value in row.items() if name.startswith("_") and name != "_extra"}
    return {**person.renamed(row), **stamps}


def _rejected_rows(dataset: str, path: Path, person: Person) -> int:
    known = told()[dataset].column
    return sum(_renamed_records(table, person, known)[1] for table in _parts(path))


def _rewrite_quarantine(dataset: str, path: Path, person: Person) -> None:
    known = told()[dataset].column
    _write(path, (_renamed_records(table, person, known)[0] for table in _parts(path)), {})


def _renamed_records(table: pa.Table, person: Person, known: Mapping[str, Any]) -> tuple[pa.Table, int]:
    """The quarantined records without the person, and how many of them changed."""
    rows, changed = table.to_pylist(), 0
    for row in rows:
        before = _read(row["record"])
        after = person.renamed(before, known)
        if after != before:
            row["record"], changed = as_json(after), changed + 1
    return pa.Table.from_pylist(rows, schema=table.schema), changed


def _write(path: Path, tables: Iterable[pa.Table], metadata: Mapping[bytes, bytes], final: Path | None = None) -> None:
    with durable.unfinished(path.with_name(f".{path.name}.tmp")) as temporary:
        with pq.ParquetWriter(temporary, pq.read_schema(path).remove_metadata(), compression="zstd") as writer:
            for table in tables:
                writer.write_table(table.replace_schema_metadata(None))
            if metadata:
                writer.add_key_value_metadata(dict(metadata))
        durable.put_in_place(temporary, final or path)
