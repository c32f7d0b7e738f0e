"""One landed batch on disk: the raw Parquet file, its quarantine beside it, and what their metadata says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data_contracts.contract import Contract
from data_contracts.judge import Judged, Rejected
from data_contracts.records import as_json, kept_apart
from orchestration import durable
from orchestration.landed_facts import META_KEY, Facts

INSTANT = pa.timestamp("us", tz="UTC")
STAMPS = (
    pa.field("_profile_id", pa.string()),
    pa.field("_source", pa.string()),
    pa.field("_batch", pa.string()),
    pa.field("_seq", pa.int64()),
    pa.field("_line", pa.int64()),
    pa.field("_loaded_at", INSTANT),
    pa.field("_deleted", pa.bool_()),
    pa.field("_extra", pa.string()),
)
QUARANTINE = pa.schema(
    [
        pa.field("line", pa.int64()),
        pa.field("field", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("record", pa.string()),
        pa.field("quarantined_at", INSTANT),
    ]
)


def raw_schema(contract: Contract) -> pa.Schema:
    """The contract's columns, then the lake's own, which start with an underscore."""
    return pa.schema([*contract.arrow_schema(), *STAMPS])


@cache
def empty_file(schema: pa.Schema) -> bytes:
    """A Parquet file of no rows; a lake needs one per data set, and each next lake of a process the same ones."""
    written = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), written)
    return bytes(written.getvalue().to_pybytes())


@dataclass(frozen=True)
class Place:
    """Where a batch lies: its data set, profile (None for deployment-wide sets), source and name."""

    dataset: str
    profile_id: str | None
    source: str
    batch: str

    @property
    def folder(self) -> Path:
        return Path(self.dataset) / (self.profile_id or "_shared") / self.source

    @property
    def file(self) -> Path:
        return self.folder / f"{self.batch}.parquet"


class ContentHash:
    """Hash of the records as they came in: equal records in equal order give equal hashes."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, records: list[Mapping[str, Any]]) -> None:
        self._hash.update("\n".join(map(as_json, records)).encode() + b"\n" if records else b"")

    @property
    def value(self) -> str:
        return self._hash.hexdigest()


class Draft:
    """A batch being written under temporary names: add rows and rejected records, then `close` or `discard`."""

    def __init__(self, contract: Contract, place: Place, raw: Path, quarantine: Path, seq: int) -> None:
        self.raw, self.quarantine, self.seq = raw, quarantine, seq
        self.rows_loaded = self.rows_quarantined = 0
        self.now = datetime.now(UTC)
        self._place, self._schema = place, raw_schema(contract)
        self._texts = frozenset(one.name for one in contract.columns if one.kind in ("text", "list"))
        self._raw = pq.ParquetWriter(raw, self._schema, compression="zstd")
        self._quarantine: pq.ParquetWriter | None = None

    def table(self, judged: Judged, *, seq: int) -> pa.Table:
        """The accepted rows, stamped with where they come from."""
        count = len(judged.lines)
        stamps: dict[str, Any] = {
            "_profile_id": [self._place.profile_id] * count,
            "_source": [self._place.source] * count,
            "_batch": [self._place.batch] * count,
            "_seq": [seq] * count,
            "_line": judged.lines,
            "_loaded_at": [self.now] * count,
        }
        values = {**judged.columns, **stamps}
        return pa.Table.from_arrays([pa.array(values[f.name], f.type) for f in self._schema], schema=self._schema)

    def add_rows(self, table: pa.Table) -> None:
        """Write rows that are typed and stamped already."""
        self._raw.write_table(table)
        self.rows_loaded += table.num_rows

    def add_rejected(self, rejected: list[Rejected]) -> None:
        """Write records to the quarantine, which is only made when there are some."""
        if not rejected:
            return
        if self._quarantine is None:
            self._quarantine = pq.ParquetWriter(self.quarantine, QUARANTINE, compression="zstd")
        rows = [
            {
                "line": r.line,
                "field": r.field,
                "reason": r.reason,
                "record": as_json(self._apart(r.record)),
                "quarantined_at": self.now,
            }
            for r in rejected
        ]
        self._quarantine.write_table(pa.Table.from_pylist(rows, QUARANTINE))
        self.rows_quarantined += len(rows)

    def _apart(self, record: Mapping[str, Any]) -> dict[str, Any]:
        return {name: kept_apart(value) if name in self._texts else value for name, value in record.items()}

    def close(self, facts: Facts) -> None:
        """Finish both files; the raw file carries the facts."""
        self._raw.add_key_value_metadata({META_KEY: json.dumps(asdict(facts), sort_keys=True).encode()})
        self._raw.close()
        if self._quarantine is not None:
            self._quarantine.close()

    def discard(self) -> None:
        """Leave nothing behind, and no room taken."""
        for writer, path in ((self._raw, self.raw), (self._quarantine, self.quarantine)):
            # on a full disk the end cannot be written either
            with suppress(OSError, pa.ArrowException):
                if writer is not None:
                    writer.close()
            durable.discard(path)
