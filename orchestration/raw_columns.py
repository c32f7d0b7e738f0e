"""The columns of landed files as pages tell them: those of the contract, then the lake's own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from data_contracts.contract import Column, Contract


@dataclass(frozen=True)
class RawColumn:
    """One column of a data set's landed files; `is_given` tells that no row is without a value."""

    name: str
    type: str
    description: str
    is_given: bool


OWN = (
    RawColumn("_profile_id", "string", "Profile that the row is of; null in sets of the whole deployment.", False),
    RawColumn("_source", "string", "Where it came from: app, file or the provider of a connection.", True),
    RawColumn("_batch", "string", "Name of its landing, which is the name of the file.", True),
    RawColumn("_seq", "bigint", "Number of its landing in the whole lake; later ones have greater numbers.", True),
    RawColumn("_line", "bigint", "Place of the record in its landing; with _seq it names the row.", True),
    RawColumn("_loaded_at", "timestamp", "When it landed, UTC.", True),
    RawColumn("_deleted", "boolean", "Whether the row withdraws what landed of its key before.", True),
    RawColumn("_extra", "string", "What came in columns that begin with x_, as JSON; null without any.", False),
)


def raw_columns(contract: Contract) -> tuple[RawColumn, ...]:
    """The columns in the order of the files. Of the contract's, a withdrawal has the key alone."""
    return (*(_told(column, column.name in contract.keys) for column in contract.columns), *OWN)


def _told(column: Column, is_key: bool) -> RawColumn:
    # a list is kept as its JSON text
    kind = "string" if column.kind == "list" else column.physical or column.kind
    untold = set(column.allowed).difference(re.findall(r"\w+", column.description))
    words = f" One of {', '.join(column.allowed)}." if untold else ""
    return RawColumn(column.name, kind, f"{column.description}{words}", is_key)


def raw_description(contract: Contract) -> str:
    """What a row of the landed files is, and which of them count."""
    key = ", ".join(f"`{name}`" for name in contract.keys)
    return f"{contract.grain} Every version that landed is there, withdrawals too; the key in one `_profile_id`: {key}."
