"""Small files of what a deployment was sent, put together: a build a minute would leave half a million a year."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from api.db import new_id
from data_contracts.contract import Contract, load
from orchestration import durable
from orchestration.batch_file import raw_schema
from orchestration.landed_facts import META_KEY, Facts, read_facts, reading
from orchestration.locks import WriterBusyError, only_writer
from touchledger.settings import Settings

# what trackers, chats and servers send all day; a store's deletions are taken out of the lake by their own batch
SETS = ("touches", "conversions", "identities", "personal_names", "page_events", "ad_referrals")
SOURCE = "app"
PREFIX = "gathered."
# files of one profile and set before they are put together, and the rows from which a file is left alone
MOST_FILES = 100
ENOUGH_ROWS = 50_000
ROWS_AT_ONCE = 20_000


def gather(root: Path) -> list[Path]:
    """Put batches of the lake at `root` together where a folder has many; gives the files made.

    Rows stay as they landed, with the names, numbers and lines of their batches, so no figure changes. Batches with
    records in quarantine stay as they are, and so do those of columns that the contract has no longer.
    """
    made = []
    with durable.exclusive(root / ".lock"):
        for dataset in SETS:
            for folder in sorted((root / "raw" / dataset).glob(f"*/{SOURCE}")):
                made += [_put_together(folder, batches) for batches in _due(folder, load(dataset))]
    return made


def gather_unread(settings: Settings) -> list[Path]:
    """The same, unless models read the lake right now, of which the files would go under them."""
    try:
        with only_writer(settings.home / "locks" / "dbt.lock", purpose="put small files together"):
            return gather(settings.lake)
    except WriterBusyError:
        return []


def finish(root: Path) -> None:
    """End what a killed process had begun to put together: where the whole is there, its parts go."""
    for list_ in (root / "raw").glob(f"*/*/{SOURCE}/.{PREFIX}*.parts"):
        whole = list_.with_name(f"{list_.stem[1:]}.parquet")
        if whole.exists():
            durable.remove(*(list_.with_name(part) for part in json.loads(list_.read_text())))
        durable.remove(list_)


def held(folder: Path) -> set[str]:
    """Names of the batches that the landed files of a folder hold, put together or not. Raises DamagedRawFileError."""
    names = set()
    for path in folder.glob("*.parquet"):
        names |= _batches(path) if is_gathered(path.name) else {path.stem}
    return names


def is_gathered(name: str) -> bool:
    """Whether a file of this name holds several batches."""
    return name.startswith(PREFIX)


def _batches(path: Path) -> set[str]:
    with reading(path), pq.ParquetFile(path, read_dictionary=["_batch"]) as file:
        return set(file.read(columns=["_batch"])["_batch"].unique().to_pylist())


def _due(folder: Path, contract: Contract) -> Iterator[list[tuple[Path, Facts]]]:
    """Batches to put together, each time enough for one file, in the order in which they landed."""
    paths = sorted(folder.glob("*.parquet"))
    if sum(not is_gathered(path.name) for path in paths) < MOST_FILES:
        return
    known = raw_schema(contract)
    found = sorted(((path, read_facts(path)) for path in paths), key=lambda one: one[1].seq)
    taken: list[tuple[Path, Facts]] = []
    for path, facts in found:
        if facts.rows_loaded < ENOUGH_ROWS and not facts.rows_quarantined and _fits(path, known):
            taken.append((path, facts))
        if sum(one.rows_loaded for _, one in taken) >= ENOUGH_ROWS:
            yield taken
            taken = []
    if len(taken) > 1:
        yield taken


def _fits(path: Path, known: pa.Schema) -> bool:
    return all(
        field.name in known.names and known.field(field.name).type == field.type for field in pq.read_schema(path)
    )


def _put_together(folder: Path, batches: Sequence[tuple[Path, Facts]]) -> Path:
    name, schema = f"{PREFIX}{new_id()}", raw_schema(load(folder.parts[-3]))
    temporary, whole = folder / f".{name}.tmp", folder / f"{name}.parquet"
    facts = [one for _, one in batches]
    with durable.unfinished(temporary), pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for table in _groups((path for path, _ in batches), schema):
            writer.write_table(table)
        writer.add_key_value_metadata({META_KEY: json.dumps(asdict(_added_up(facts)), sort_keys=True).encode()})
    # whoever is killed between the whole and its parts has both: the next to look knows by this which go
    durable.write_text(folder / f".{name}.parts", json.dumps([path.name for path, _ in batches]))
    durable.put_in_place(temporary, whole)
    durable.remove(*(path for path, _ in batches))
    durable.remove(folder / f".{name}.parts")
    return whole


def _groups(paths: Iterable[Path], schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of files under one schema, in parts of a size that is read at once."""
    parts: list[pa.Table] = []
    for path in paths:
        with reading(path), pq.ParquetFile(path) as file:
            parts.append(_under(file.read(), schema))
        if sum(part.num_rows for part in parts) >= ROWS_AT_ONCE:
            yield pa.concat_tables(parts).combine_chunks()
            parts = []
    if parts:
        yield pa.concat_tables(parts).combine_chunks()


def _under(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        table[field.name] if field.name in table.schema.names else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _added_up(facts: Sequence[Facts]) -> Facts:
    """What the whole says of itself: as new as its newest batch."""
    return Facts(
        seq=max(one.seq for one in facts),
        rows_in=sum(one.rows_in for one in facts),
        rows_loaded=sum(one.rows_loaded for one in facts),
        rows_quarantined=0,
        content="",
        contract=facts[-1].contract,
        origin=None,
        quarantine=None,
        loaded_at=max(facts, key=lambda one: one.loaded).loaded_at,
    )
