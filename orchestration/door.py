"""The door of the lake: nobody who was erased comes back with a file or a pull."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import duckdb

from api.db import transaction
from api.erased import IDENTIFIERS, LINKS, stripped
from api.erased_records import erased_digests, refused
from data_contracts.contract import Contract
from orchestration.chunks import chunks
from orchestration.lake import Lake
from orchestration.landed_facts import AS_THEY_ARE
from touchledger.settings import load

Record = Mapping[str, Any]


def admitted(
    url: str, lake: Lake, contract: Contract, profile_id: str | None, records: Iterable[Record]
) -> Iterable[Record]:
    """The records as they may land, read as they are asked for.

    A record that names somebody erased takes over the random names of the row that it delivers again, so that a
    provider's whole list moves no credit; a new one arrives without the person.
    """
    return records if profile_id is None else _admitted(url, lake, contract, profile_id, records)


def _admitted(url: str, lake: Lake, contract: Contract, profile_id: str, records: Iterable[Record]) -> Iterator[Record]:
    # asked once the lake is held: an erasure that came before is over with what had landed
    with transaction(url) as session:
        erased = erased_digests(session, profile_id)
    if not erased:
        yield from records
        return
    key = load().signing_key()
    for chunk in chunks(records):
        columns = [refused(record, profile_id=profile_id, key=key, erased=erased) for record in chunk]
        held = [record for record, named in zip(chunk, columns, strict=True) if named]
        known = _known(lake, contract, profile_id, held) if held else {}
        for record, named in zip(chunk, columns, strict=True):
            if not named:
                yield record
            else:
                yield {**stripped(record, named, key=key), **known.get(_key(contract, record), {})}


def _key(contract: Contract, record: Record) -> tuple[str, ...]:
    return tuple(str(record.get(name)).strip() for name in contract.keys)


def _known(lake: Lake, contract: Contract, profile_id: str, records: list[Record]) -> dict[tuple[str, ...], Record]:
    """The names that rows of these keys go by in the lake, newest first."""
    names = [name for name in (*IDENTIFIERS, *LINKS) if name in contract.column]
    folder = str(lake.raw / contract.name / profile_id / "*" / "*.parquet").replace("'", "''")
    if not any((lake.raw / contract.name / profile_id).glob("*/*.parquet")):
        return {}
    wanted = {_key(contract, record) for record in records}
    columns = ", ".join([*contract.keys, *names])
    first = contract.keys[0]
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select {columns} from read_parquet('{folder}', {AS_THEY_ARE})"  # noqa: S608
            f" where list_contains(?, {first}) and not _deleted order by _seq",
            [sorted({key[0] for key in wanted})],
        ).fetchall()
    width = len(contract.keys)
    return {row[:width]: dict(zip(names, row[width:], strict=True)) for row in rows if row[:width] in wanted}
