"""The judge: turns records of any origin into typed rows, and says of every other record which field and why."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from data_contracts.contract import Column, Contract
from data_contracts.formats import Refused
from data_contracts.records import as_json
from data_contracts.rules import RULES, Columns
from data_contracts.values import Parser, parser

DELETED = Column(
    name="_deleted", kind="boolean", description="True when the producer withdraws the row.", default=False
)
EXTRA = "_extra"
# the door empties what names somebody erased, and the producer, who gave it, must not look for a fault
MISSING_OR_ERASED = "missing, or that of somebody erased, which is not taken"
_UNSEEN = object()


@dataclass(frozen=True)
class Rejected:
    """One record that is not a row: its line, the field at fault (None: the whole record), the reason, and itself."""

    line: int
    field: str | None
    reason: str
    record: Mapping[str, Any]


@dataclass
class Judged:
    """Rows as columns of equal length, with their lines, and the rejected records; together all that came in.

    Beside the contract's columns there are `_deleted` and `_extra` (JSON text of the record's `x_` columns, or None).
    """

    columns: dict[str, list[Any]]
    lines: list[int]
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The accepted rows, one mapping each."""
        names = list(self.columns)
        return [dict(zip(names, values, strict=True)) for values in zip(*self.columns.values(), strict=True)]


def unknown_column(contract: Contract, name: str) -> str:
    """What to tell the producer of a column that the contract does not have."""
    known = [*contract.column, DELETED.name]
    near = difflib.get_close_matches(name[:100], known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown column {name[:100]!r}{hint} (columns named x_... are kept and not used)"


class Refusals:
    """The first refusal of each record of a chunk."""

    def __init__(self) -> None:
        self.reasons: dict[int, tuple[str | None, str]] = {}

    def add(self, index: int, name: str | None, reason: str) -> None:
        """Keep the reason, unless the record already has one."""
        self.reasons.setdefault(index, (name, reason))


def _parse(values: list[Any], parse: Parser, name: str, refusals: Refusals) -> list[Any]:
    """One column; equal texts are parsed once."""
    if values.count(None) == len(values):
        return values
    typed: list[Any] = []
    seen: dict[str, Any] = {}
    for index, value in enumerate(values):
        result = None
        if value is not None:
            is_text = type(value) is str
            result = seen.get(value, _UNSEEN) if is_text else _UNSEEN
            if result is _UNSEEN:
                try:
                    result = parse(value)
                except Refused as refused:
                    refusals.add(index, name, str(refused))
                    result = None
                else:
                    if is_text:
                        seen[value] = result
        typed.append(result)
    return typed


def _extras(contract: Contract, records: Sequence[Mapping[str, Any]], refusals: Refusals) -> list[str | None]:
    """The `x_` columns of each record as JSON; a record with an unknown column is refused."""
    known = frozenset(contract.column) | {DELETED.name}
    extras: list[str | None] = [None] * len(records)
    for index, record in enumerate(records):
        if record.keys() <= known:
            continue
        kept = {}
        for name in sorted(record.keys() - known, key=str):
            if isinstance(name, str) and name.startswith("x_"):
                kept[name] = record[name]
            else:
                refusals.add(index, None, unknown_column(contract, str(name)))
        if kept:
            extras[index] = as_json(kept)
    return extras


def _require(contract: Contract, columns: Columns, refusals: Refusals) -> None:
    """Required columns, and money with its currency; a withdrawn row needs only its key."""
    withdrawn = columns[DELETED.name]
    for column in contract.columns:
        values = columns[column.name]
        if column.required and None in values:
            for index, value in enumerate(values):
                if value is None and not (withdrawn[index] and column.key_position is None):
                    refusals.add(index, column.name, MISSING_OR_ERASED if column.personal else "missing")
        if column.currency_column:
            for index, (value, code) in enumerate(zip(values, columns[column.currency_column], strict=True)):
                if value is not None and code is None:
                    refusals.add(index, column.currency_column, "money without currency")


def _fill(columns: Columns, columns_of: Iterable[Column]) -> None:
    for column in columns_of:
        if column.default is not None:
            columns[column.name] = [column.default if value is None else value for value in columns[column.name]]


def judge(
    contract: Contract, records: Iterable[Mapping[str, Any]], *, now: datetime | None = None, first_line: int = 1
) -> Judged:
    """Judge one chunk of records; lines are counted from `first_line`. Keeps order; loses none."""
    kept = records if isinstance(records, list) else list(records)
    refusals, moment = Refusals(), now or datetime.now(UTC)
    extras = _extras(contract, kept, refusals)
    columns: Columns = {}
    for column in (*contract.columns, DELETED):
        values = [record.get(column.name) for record in kept]
        columns[column.name] = _parse(values, parser(column, moment), column.name, refusals)
    _fill(columns, (*contract.columns, DELETED))
    _require(contract, columns, refusals)
    for rule in contract.rules:
        RULES[rule.name](columns, refusals.add)
    columns[EXTRA] = extras
    return _divide(columns, kept, refusals, first_line)


def _divide(columns: Columns, records: Sequence[Mapping[str, Any]], refusals: Refusals, first_line: int) -> Judged:
    lines = list(range(first_line, first_line + len(records)))
    if not refusals.reasons:
        return Judged(columns, lines)
    refused = sorted(refusals.reasons.items())
    accepted = [index for index in range(len(records)) if index not in refusals.reasons]
    return Judged(
        columns={name: [values[index] for index in accepted] for name, values in columns.items()},
        lines=[lines[index] for index in accepted],
        rejected=[Rejected(lines[index], name, reason, records[index]) for index, (name, reason) in refused],
    )
