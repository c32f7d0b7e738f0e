"""Accepting records: judged by their contract, then kept once per key; the pipeline lands them in the lake."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api.erased_records import admitted, erased_in
from api.models import IngestedRecord
from data_contracts.contract import Contract, landed
from data_contracts.judge import Rejected, judge
from data_contracts.records import as_json
from touchledger.settings import load

CHUNK = 500


@dataclass(frozen=True)
class Conflict:
    """A record whose key was taken before by other content; `line` counts the records given, from 1."""

    line: int
    record_key: str


@dataclass
class Accepted:
    """What became of the records given: accepted + duplicates + conflicts + rejected is their number."""

    accepted: int = 0
    duplicates: int = 0
    conflicts: list[Conflict] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


@dataclass(frozen=True)
class _Entry:
    line: int
    key: str
    fingerprint: str
    record: Mapping[str, Any]


def accept(session: Session, *, profile_id: str, dataset: str, records: Iterable[Mapping[str, Any]]) -> Accepted:
    """Judge the records and keep those that are new, within the caller's transaction.

    The same key with the same content is a duplicate for ever; with other content it is a conflict, and the first
    content stays. Rejected records are not kept; of people who were erased nothing is. Raises KeyError for a set that
    has no raw files.
    """
    contract, given, key = landed()[dataset], list(records), load().signing_key()
    if erased := erased_in(session, given, profile_id=profile_id, key=key):
        given = admitted(given, profile_id=profile_id, key=key, erased=erased)
    judged = judge(contract, given)
    entries = [
        _entry(contract, row, line, given[line - 1]) for row, line in zip(judged.rows, judged.lines, strict=True)
    ]
    outcome = Accepted(rejected=judged.rejected)
    for chunk in _chunks(entries):
        _keep(session, profile_id, dataset, chunk, outcome)
    return outcome


def keep_refused(session: Session, *, profile_id: str, dataset: str, refused: Iterable[Rejected]) -> None:
    """Keep records that `accept` rejected, where their sender cannot mend them, within the caller's transaction.

    Their landing judges them again: they lie in quarantine with their reason, and a replay may take them.
    """
    contract = landed()[dataset]
    if entries := [_entry(contract, one.record, one.line, one.record) for one in refused]:
        _insert(session, profile_id, dataset, entries)


def withdraw(session: Session, *, profile_id: str, dataset: str, keys: Mapping[str, str], at: datetime) -> None:
    """Take a record back, within the caller's transaction: the next build no longer knows it.

    `keys` are the set's key columns. What was accepted stays accepted: its key is not given out again.
    """
    assert keys.keys() == set(landed()[dataset].keys), keys
    digest = hashlib.sha256(json.dumps(["withdrawn", *keys.values()]).encode()).hexdigest()
    record = {**keys, "updated_at": at.isoformat(), "_deleted": True}
    _insert(session, profile_id, dataset, [_Entry(1, digest, digest, record)])


def _entry(contract: Contract, row: Mapping[str, Any], line: int, record: Mapping[str, Any]) -> _Entry:
    parts = [str(row[name]) for name in contract.keys]
    if row.get("confidence") == "certain":
        # else who typed an address first would never be known for certain
        parts.append("certain")
    key = parts[0] if len(parts) == 1 else json.dumps(parts)
    if len(key) > 255:
        key = hashlib.sha256(key.encode()).hexdigest()
    # the typed row, so that 1.5 and "1.50" are the same content; nulls left out, so that a new column changes nothing
    content = as_json({name: value for name, value in row.items() if value is not None})
    return _Entry(line, key, hashlib.sha256(content.encode()).hexdigest(), record)


def _chunks(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    remaining = iter(entries)
    while chunk := list(itertools.islice(remaining, CHUNK)):
        yield chunk


def _keep(session: Session, profile_id: str, dataset: str, chunk: list[_Entry], outcome: Accepted) -> None:
    first: dict[str, _Entry] = {}
    for entry in chunk:
        first.setdefault(entry.key, entry)
    new = _insert(session, profile_id, dataset, first.values())
    outcome.accepted += len(new)
    kept = _fingerprints(session, profile_id, dataset, [key for key in first if key not in new])
    kept |= {key: first[key].fingerprint for key in new}
    for entry in chunk:
        if first[entry.key] is entry and entry.key in new:
            continue
        if kept[entry.key] == entry.fingerprint:
            outcome.duplicates += 1
        else:
            outcome.conflicts.append(Conflict(entry.line, entry.key))


def _insert(session: Session, profile_id: str, dataset: str, entries: Iterable[_Entry]) -> set[str]:
    """Keys that were not there; two requests with the same key at once cannot both get it."""
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    statement = dialect.insert(IngestedRecord).on_conflict_do_nothing(
        index_elements=["profile_id", "dataset", "record_key"]
    )
    rows = [
        {
            "profile_id": profile_id,
            "dataset": dataset,
            "record_key": entry.key,
            "fingerprint": entry.fingerprint,
            "record": json.loads(as_json(entry.record)),
        }
        for entry in entries
    ]
    return set(session.scalars(statement.returning(IngestedRecord.record_key), rows))


def _fingerprints(session: Session, profile_id: str, dataset: str, keys: list[str]) -> dict[str, str]:
    if not keys:
        return {}
    chosen = sa.select(IngestedRecord.record_key, IngestedRecord.fingerprint).where(
        IngestedRecord.profile_id == profile_id,
        IngestedRecord.dataset == dataset,
        IngestedRecord.record_key.in_(keys),
    )
    return {row.record_key: row.fingerprint for row in session.execute(chosen)}
