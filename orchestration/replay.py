"""Replay: quarantined records judged again, and put back among the rows of their batch."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data_contracts.contract import Contract
from data_contracts.judge import Judged, judge
from orchestration.batch_file import Draft, raw_schema
from orchestration.landed_facts import reading

ROWS_AT_ONCE = 20_000


def parts_of(quarantine: Path | None, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
    """These columns of a quarantine file's rows, by line and some at a time; none where there is no file."""
    for part in _batches(quarantine, columns) if quarantine else ():
        yield part.to_pylist()


def rejudged(contract: Contract, quarantine: Path | None, now: datetime) -> Iterator[Judged]:
    """Judge the quarantine's records again, some at a time; lines are those of the first landing."""
    for rows in parts_of(quarantine, ["line", "record"]):
        lines = [row["line"] for row in rows]
        judged = judge(contract, [json.loads(row["record"]) for row in rows], now=now, first_line=0)
        judged.lines = [lines[index] for index in judged.lines]
        judged.rejected = [type(r)(lines[r.line], r.field, r.reason, r.record) for r in judged.rejected]
        yield judged


def refill(draft: Draft, contract: Contract, old: Path, judged: Iterable[Judged], seq: int) -> None:
    """Write the batch's old rows, then the newly accepted ones; `seq` keeps their place among batches."""
    for rows in _batches(old):
        draft.add_rows(_aligned(pa.Table.from_batches([rows]), raw_schema(contract)))
    for part in judged:
        draft.add_rejected(part.rejected)
        draft.add_rows(draft.table(part, seq=seq))


def _batches(path: Path, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    with reading(path), pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield from file.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=columns)


def _aligned(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table under the schema of today: columns that did not exist then are null."""
    missing = itertools.filterfalse(table.schema.names.__contains__, schema.names)
    for name in missing:
        table = table.append_column(schema.field(name), pa.nulls(table.num_rows, schema.field(name).type))
    return table.select(schema.names).replace_schema_metadata(None).cast(schema)
