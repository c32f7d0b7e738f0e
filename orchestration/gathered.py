"""Small files of the lake, put together: builds by the minute leave half a million a year, and daily pulls hundreds."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
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
# what is pulled of a connection by day, as batches `<its id>-<day>`, and since a day, as `<its id>-since-<day>`
PULLED = ("ad_delivery", "orders", "order_lines", "products", "variants")
_DATED = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(?:since-)?(\d{4}-\d\d-\d\d)")
# days beyond those that platforms revise: an account that was behind is asked for as many before its last
SPARE_DAYS = 14
# files of one profile and set, or of one connection, before they are put together
MOST_FILES = 100
MOST_PULLED = 30
# the rows from which a file is left alone
ENOUGH_ROWS = 50_000
ROWS_AT_ONCE = 20_000


def gather(root: Path) -> list[Path]:
    """Put batches of the lake at `root` together where a folder has many; gives the files made.

    Rows stay as they landed, with the names, numbers and lines of their batches, so no figure changes. Batches with
    records in quarantine stay as they are, and so do those of columns that the contract has no longer, and of pulls
    those of days that are still revised.
    """
    made: list[Path] = []
    with durable.exclusive(root / ".lock"):
        for dataset in SETS:
            for folder in sorted((root / "raw" / dataset).glob(f"*/{SOURCE}")):
                paths = sorted(folder.glob("*.parquet"))
                if sum(not is_gathered(path.name) for path in paths) >= MOST_FILES:
                    made += _together(paths, load(dataset), PREFIX)
        for dataset in PULLED:
            for folder in sorted((root / "raw" / dataset).glob("*/*")):
                for connection, paths in _settled(folder):
                    beginning = f"{PREFIX}{connection}."
                    whole = sorted(folder.glob(f"{beginning}*.parquet"))
                    made += _together([*whole, *paths], load(dataset), beginning)
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
    for list_ in (root / "raw").glob(f"*/*/*/.{PREFIX}*.parts"):
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


def take_out(path: Path) -> None:
    """Make a batch that was put together with others of its connection the file `path` again, if it was.

    Whoever lands it anew replaces that one; the others stay together. The caller holds the lake.
    """
    dated = _DATED.fullmatch(path.stem)
    for whole in path.parent.glob(f"{PREFIX}{dated[1]}.*.parquet") if dated else ():
        if path.stem not in _batches(whole):
            continue
        with reading(whole), pq.ParquetFile(whole) as file:
            rows = file.read()
        own, facts = pc.equal(rows["_batch"], path.stem), read_facts(whole)
        # killed after the first of these, both hold the same rows, and the next landing goes on here
        for of, some in ((path, rows.filter(own)), (whole, rows.filter(pc.invert(own)))):
            if of == whole or not of.exists():
                _write(of, some.schema, [some], _of_rows(some, facts))


def _settled(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Connections with many batches whose days no pull asks for any more, and those, in the order of their days."""
    # dbt's process needs this module, and Dagster takes a second
    from orchestration.partitions import REVISED_DAYS, REVISED_LONGER

    kept = timedelta(days=max(REVISED_DAYS, REVISED_LONGER.get(folder.name, 0)) + SPARE_DAYS)
    pulled: dict[str, list[tuple[date, Path]]] = defaultdict(list)
    for path in folder.glob("*.parquet"):
        if dated := _DATED.fullmatch(path.stem):
            pulled[dated[1]].append((date.fromisoformat(dated[2]), path))
    for connection, batches in sorted(pulled.items()):
        batches.sort()
        # counted from the newest day, not by the clock: what is behind is asked for all that it lacks
        settled = [path for day, path in batches if day < batches[-1][0] - kept]
        if len(settled) >= MOST_PULLED:
            yield connection, settled


def _together(paths: Iterable[Path], contract: Contract, beginning: str) -> Iterator[Path]:
    """Put batches together, each time enough for one file, in the order in which they landed."""
    known = raw_schema(contract)
    found = sorted(((path, read_facts(path)) for path in paths), key=lambda one: one[1].seq)
    taken: list[tuple[Path, Facts]] = []
    for path, facts in found:
        if facts.rows_loaded < ENOUGH_ROWS and not facts.rows_quarantined and _fits(path, known):
            taken.append((path, facts))
        if sum(one.rows_loaded for _, one in taken) >= ENOUGH_ROWS:
            yield _put_together(taken, known, beginning)
            taken = []
    if len(taken) > 1:
        yield _put_together(taken, known, beginning)


def _fits(path: Path, known: pa.Schema) -> bool:
    return all(
        field.name in known.names and known.field(field.name).type == field.type for field in pq.read_schema(path)
    )


def _put_together(batches: Sequence[tuple[Path, Facts]], schema: pa.Schema, beginning: str) -> Path:
    folder, name = batches[0][0].parent, f"{beginning}{new_id()}"
    whole, parts = folder / f"{name}.parquet", folder / f".{name}.parts"
    # whoever is killed between the whole and its parts has both: the next to look knows by this which go
    durable.write_text(parts, json.dumps([path.name for path, _ in batches]))
    _write(whole, schema, _groups((path for path, _ in batches), schema), _added_up([one for _, one in batches]))
    durable.remove(*(path for path, _ in batches))
    durable.remove(parts)
    return whole


def _write(path: Path, schema: pa.Schema, tables: Iterable[pa.Table], facts: Facts) -> None:
    temporary = path.with_name(f".{path.stem}.tmp")
    with durable.unfinished(temporary), pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)
        writer.add_key_value_metadata({META_KEY: json.dumps(asdict(facts), sort_keys=True).encode()})
    durable.put_in_place(temporary, path)


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


def _of_rows(rows: pa.Table, whole: Facts) -> Facts:
    """What a file of some rows of a whole says of itself."""
    newest = pc.max(rows["_seq"]).as_py() or whole.seq
    return replace(whole, seq=newest, rows_in=rows.num_rows, rows_loaded=rows.num_rows)
