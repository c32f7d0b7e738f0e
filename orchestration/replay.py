"""Replay: quarantined records judged again, and put back among the rows of their batch."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from data_contracts.contract import Contract
from data_contracts.judge import Judged, judge
from orchestration.batch_file import Draft, raw_schema


def rejudged(contract: Contract, quarantined: Iterable[Mapping[str, Any]], now: datetime) -> Judged:
    """Judge the quarantine's rows (line, record as JSON text) again; lines are those of the first landing."""
    kept = sorted(quarantined, key=lambda row: row["line"])
    lines = [row["line"] for row in kept]
    judged = judge(contract, [json.loads(row["record"]) for row in kept], now=now, first_line=0)
    judged.lines = [lines[index] for index in judged.lines]
    judged.rejected = [type(r)(lines[r.line], r.field, r.reason, r.record) for r in judged.rejected]
    return judged


def refill(draft: Draft, contract: Contract, old: Path, judged: Judged, seq: int) -> None:
    """Write the batch's old rows and the newly accepted ones in line order; `seq` keeps their place among batches."""
    draft.add_rejected(judged.rejected)
    judged.rejected = []
    fresh = draft.table(judged, seq=seq)
    rows = pa.concat_tables([_aligned(pq.read_table(old), raw_schema(contract)), fresh])
    draft.add_rows(rows.take(pc.sort_indices(rows, sort_keys=[("_line", "ascending")])))


def _aligned(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table under the schema of today: columns that did not exist then are null."""
    missing = itertools.filterfalse(table.schema.names.__contains__, schema.names)
    for name in missing:
        table = table.append_column(schema.field(name), pa.nulls(table.num_rows, schema.field(name).type))
    return table.select(schema.names).replace_schema_metadata(None).cast(schema)
