"""What lies in quarantine: row by row with its record, and counted without the rows that came right since."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from data_contracts.contract import Contract, landed
from data_contracts.formats import Refused
from data_contracts.values import parser
from orchestration.lake import Lake, Landing
from orchestration.landed_facts import SCHEMA


@dataclass(frozen=True)
class Quarantined:
    """One record that is no row; `is_corrected` when a row of its key landed in a later batch of its profile."""

    landing: Landing
    line: int
    field: str | None
    reason: str
    record: Mapping[str, Any]
    is_corrected: bool


@dataclass(frozen=True)
class Reason:
    """How many records of one source lie in quarantine for one reason."""

    profile_id: str | None
    source: str
    field: str | None
    reason: str
    rows: int


def rows(lake: Lake, dataset: str) -> list[Quarantined]:
    """The records of a set in quarantine, by landing and line."""
    contract, batches = landed()[dataset], lake.batches(dataset)
    kept = [
        (batch, row, json.loads(row["record"]))
        for batch in batches
        if batch.quarantine is not None
        for row in pq.read_table(batch.quarantine).sort_by("line").to_pylist()
    ]
    corrected = _corrected(lake, contract, batches, [(batch, record) for batch, _, record in kept])
    return [
        Quarantined(batch, row["line"], row["field"], row["reason"], record, at in corrected)
        for at, (batch, row, record) in enumerate(kept)
    ]


def counted(lake: Lake, dataset: str) -> list[Reason]:
    """The records that nothing later put right, counted by source, field and reason."""
    counts = Counter(
        (one.landing.profile_id, one.landing.source, one.field, one.reason)
        for one in rows(lake, dataset)
        if not one.is_corrected
    )
    return [Reason(*key, number) for key, number in counts.most_common()]


def _corrected(
    lake: Lake, contract: Contract, batches: Iterable[Landing], kept: list[tuple[Landing, Mapping[str, Any]]]
) -> set[int]:
    """Which of the records, by their place in the list, have a row of their key in a later batch."""
    names = [f"key_{at}" for at in range(len(contract.keys))]
    keyed: list[dict[str, Any]] = [
        {"place": at, "profile_id": batch.profile_id, "seq": batch.seq, **dict(zip(names, key, strict=True))}
        for at, (batch, record) in enumerate(kept)
        if (key := _key(contract, record)) is not None
    ]
    first = min((one["seq"] for one in keyed), default=0)
    later = [str(batch.path) for batch in batches if batch.seq > first]
    if not keyed or not later:
        return set()
    same = " and ".join(
        f"kept.{name} = cast({column} as varchar)" for name, column in zip(names, contract.keys, strict=True)
    )
    fields = {"place": pa.int64(), "profile_id": pa.string(), "seq": pa.int64(), **dict.fromkeys(names, pa.string())}
    with duckdb.connect() as connection:
        connection.register("kept", pa.Table.from_pylist(keyed, pa.schema(list(fields.items()))))
        found = connection.execute(
            "select distinct kept.place from read_parquet(?, union_by_name = true)"  # noqa: S608
            f" join kept on {same} and _seq > kept.seq and _profile_id is not distinct from kept.profile_id",
            [[str(lake.raw / contract.name / SCHEMA), *later]],
        ).fetchall()
    return {place for (place,) in found}


def _key(contract: Contract, record: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The key as a row would have it, as texts; None where a part of it is what is wrong."""
    key, now = [], datetime.now(UTC)
    for name in contract.keys:
        value = record.get(name)
        try:
            typed = None if value is None else parser(contract.column[name], now)(value)
        except Refused:
            return None
        typed = contract.column[name].default if typed is None else typed
        if typed is None:
            return None
        key.append(str(typed))
    return tuple(key)
