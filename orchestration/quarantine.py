"""What lies in quarantine: row by row with its record, and counted without the rows that came right since."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from data_contracts.contract import Contract, landed
from data_contracts.formats import Refused
from data_contracts.judge import Refusals
from data_contracts.rules import RULES, Columns, identifiers_are_normalised
from data_contracts.values import parser
from orchestration.lake import Lake, Landing
from orchestration.landed_facts import AS_THEY_ARE, SCHEMA
from orchestration.replay import parts_of


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


def rows(lake: Lake, dataset: str) -> Iterator[Quarantined]:
    """The records of a set in quarantine, by landing and line, read as they are asked for."""
    for batch, row, is_corrected in _looked_at(lake, dataset, ["line", "field", "reason", "record"]):
        record = json.loads(row["record"])
        yield Quarantined(batch, row["line"], row["field"], row["reason"], record, is_corrected)


def counted(lake: Lake, dataset: str) -> list[Reason]:
    """The records that nothing later put right, counted by source, field and reason."""
    counts = Counter(
        (batch.profile_id, batch.source, row["field"], row["reason"])
        for batch, row, is_corrected in _looked_at(lake, dataset, ["field", "reason"])
        if not is_corrected
    )
    return [Reason(*key, number) for key, number in counts.most_common()]


def _looked_at(lake: Lake, dataset: str, columns: list[str]) -> Iterator[tuple[Landing, Mapping[str, Any], bool]]:
    """Each record's landing, these columns of it, and whether it is corrected; by landing and line."""
    batches = lake.batches(dataset)
    places = itertools.count()
    corrected = _corrected(lake, landed()[dataset], batches)
    for batch in batches:
        for rows in parts_of(batch.quarantine, columns):
            yield from ((batch, row, next(places) in corrected) for row in rows)


def _corrected(lake: Lake, contract: Contract, batches: Sequence[Landing]) -> Container[int]:
    """Which of the records, by their place among all, have a row of their key in a later batch."""
    kept = _keyed(contract, batches)
    first = pc.min(kept["seq"]).as_py()
    later = [str(batch.path) for batch in batches if first is not None and batch.seq > first]
    if not later:
        return ()
    same = " and ".join(f"kept.key_{at} = cast({column} as varchar)" for at, column in enumerate(contract.keys))
    with duckdb.connect() as connection:
        connection.register("kept", kept)
        found = connection.execute(
            f"select distinct kept.place from read_parquet(?, {AS_THEY_ARE})"  # noqa: S608
            f" join kept on {same} and _seq > kept.seq and _profile_id is not distinct from kept.profile_id",
            [[str(lake.raw / contract.name / SCHEMA), *later]],
        ).fetchnumpy()["place"]
    return frozenset(found.tolist())


def _keyed(contract: Contract, batches: Sequence[Landing]) -> pa.Table:
    """The records whose key can be read: where each stands among all, whose it is, and its key as texts."""
    names = [f"key_{at}" for at in range(len(contract.keys))]
    fields = {"place": pa.int64(), "profile_id": pa.string(), "seq": pa.int64(), **dict.fromkeys(names, pa.string())}
    places, parts = itertools.count(), [pa.schema(list(fields.items())).empty_table()]
    for batch in batches:
        for rows in parts_of(batch.quarantine, ["record"]):
            keyed = [(next(places), _key(contract, json.loads(row["record"]))) for row in rows]
            told = [
                {"place": at, "profile_id": batch.profile_id, "seq": batch.seq, **dict(zip(names, key, strict=True))}
                for at, key in keyed
                if key is not None
            ]
            parts.append(pa.Table.from_pylist(told, parts[0].schema))
    return pa.concat_tables(parts)


def _key(contract: Contract, record: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The key as a row would have it, as texts; None where a part of it is what is wrong."""
    key: Columns = {}
    now, refusals = datetime.now(UTC), Refusals()
    for name in contract.keys:
        value = record.get(name)
        try:
            typed = None if value is None else parser(contract.column[name], now)(value)
        except Refused:
            return None
        typed = contract.column[name].default if typed is None else typed
        if typed is None:
            return None
        key[name] = [typed]
    if any(RULES[rule.name] is identifiers_are_normalised for rule in contract.rules):
        identifiers_are_normalised(key, refusals.add)
    return None if refusals.reasons else tuple(str(key[name][0]) for name in contract.keys)
