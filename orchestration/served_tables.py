"""What a served file must hold, by its contracts: the check that stands before the pointer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import duckdb

from data_contracts import contract as contracts


class ContractBrokenError(RuntimeError):
    """A table is not what its served contract promises; `problems` names every difference."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("not published, the previous snapshot keeps serving: " + "; ".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class Column:
    """One served column; `type` is DuckDB's name of it, `outside` an SQL condition that values it may not have meet."""

    name: str
    type: str
    required: bool
    outside: str | None = None


@dataclass(frozen=True)
class ServedTable:
    """One served table; `grain` is unique and is the order in which its readers scan it.

    Tables that name people go to a file of their own.
    """

    name: str
    columns: tuple[Column, ...]
    grain: tuple[str, ...]
    names_people: bool = False

    @property
    def column_list(self) -> str:
        return ", ".join(quoted(column.name) for column in self.columns)

    @property
    def grain_list(self) -> str:
        return ", ".join(quoted(name) for name in self.grain)


def quoted(name: str) -> str:
    """`name` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def schema_hash(tables: Iterable[ServedTable]) -> str:
    """Twelve hex digits that change when a table, a column or a type does."""
    parts = sorted([table.name, *([column.name, column.type] for column in table.columns)] for table in tables)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def require_columns(connection: duckdb.DuckDBPyConnection, schema: str, tables: Iterable[ServedTable]) -> None:
    """Raise ContractBrokenError unless every table is there with the promised columns and types."""
    found = _columns(connection, schema)
    refuse(problem for table in tables for problem in _shape(found.get(table.name, {}), table))


def broken_rows(connection: duckdb.DuckDBPyConnection, table: ServedTable) -> list[str]:
    """What rows of the served table break: a value is absent or not as promised, or a grain has two rows."""
    relation = f"main.{quoted(table.name)}"
    problems = [*_wrong(connection, relation, table)]
    # grouping the rows of every table took a sixth of a publication, and most tables are written in order
    if not _ascends(connection, relation, table):
        problems += _twice(connection, relation, table)
    return problems


def require_fresh_rows(connection: duckdb.DuckDBPyConnection, relation: str, fresh: str, table: ServedTable) -> None:
    """Raise ContractBrokenError for such rows, of a table that kept its contract before those of `fresh` came to it."""
    same = " and ".join(f"old.{quoted(name)} is not distinct from new.{quoted(name)}" for name in table.grain)
    near = f"(select old.* from {relation} as old semi join {fresh} as new on {same})"  # noqa: S608
    refuse([*_wrong(connection, fresh, table), *_twice(connection, near, table)])


def runs(connection: duckdb.DuckDBPyConnection, relation: str, table: ServedTable) -> int:
    """In how many stretches, each in the order of its grain, the rows of a table lie."""
    before, later = _disorder(table)
    found = connection.execute(
        f"select count(*) from (select {table.grain_list}, {before} from {relation}) where {later}"  # noqa: S608
    ).fetchone()
    return 1 + int(found[0]) if found else 1


def late(connection: duckdb.DuckDBPyConnection, relation: str, table: ServedTable) -> int:
    """How many rows lie behind the first stretch that is in the order of the grain."""
    before, later = _disorder(table)
    found = connection.execute(
        f"select count(*) - min(place) filter ({later}) + 1 from"  # noqa: S608
        f" (select {table.grain_list}, {before}, row_number() over () as place from {relation})"
    ).fetchone()
    return int(found[0] or 0) if found else 0


def _ascends(connection: duckdb.DuckDBPyConnection, relation: str, table: ServedTable) -> bool:
    """Whether each row lies strictly behind the one before by its grain, which no two rows can then share."""
    before, _ = _disorder(table)
    behind = "false"
    for n, column in reversed([*enumerate(quoted(column) for column in table.grain)]):
        behind = f"(before_{n} < {column} or (before_{n} = {column} and {behind}))"
    found = connection.execute(
        f"select count(*) from (select {table.grain_list}, {before} from {relation})"  # noqa: S608
        f" where not coalesce({behind}, false)"
    ).fetchone()
    # the first row has none before it
    return found is not None and found[0] <= 1


def _disorder(table: ServedTable) -> tuple[str, str]:
    """Columns that hold the grain of the row before, and whether that row belongs behind this one."""
    grain = [quoted(column) for column in table.grain]
    before = ", ".join(f"lag({column}) over () as before_{n}" for n, column in enumerate(grain))
    later = "false"
    for n, column in reversed(list(enumerate(grain))):
        later = f"(before_{n} > {column} or (before_{n} is not distinct from {column} and {later}))"
    return before, later


def refuse(problems: Iterable[str]) -> None:
    """Raise ContractBrokenError that names all problems, where there are any."""
    found = list(problems)
    if found:
        raise ContractBrokenError(found)


def _columns(connection: duckdb.DuckDBPyConnection, schema: str) -> dict[str, dict[str, str]]:
    """Types of the columns of each table."""
    catalog, _, namespace = schema.rpartition(".")
    rows = connection.execute(
        "select table_name, column_name, data_type from duckdb_columns()"
        " where schema_name = ? and database_name = coalesce(nullif(?, ''), current_database())",
        [namespace, catalog],
    ).fetchall()
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        found.setdefault(table, {})[column] = kind
    return found


def _shape(found: dict[str, str], table: ServedTable) -> Iterator[str]:
    promised = {column.name: column.type for column in table.columns}
    if not found:
        yield f"{table.name}: there is no such table"
        return
    if missing := sorted(promised.keys() - found.keys()):
        yield f"{table.name}: missing {', '.join(missing)}"
    if extra := sorted(found.keys() - promised.keys()):
        yield f"{table.name}: {', '.join(extra)} not in the contract"
    for name in sorted(promised.keys() & found.keys()):
        if found[name] != promised[name]:
            yield f"{table.name}.{name}: {found[name]} where the contract says {promised[name]}"


def _wrong(connection: duckdb.DuckDBPyConnection, relation: str, table: ServedTable) -> Iterator[str]:
    asked = [(one.name, f"{quoted(one.name)} is null", "without a value") for one in table.columns if one.required]
    asked += [(one.name, one.outside, "outside what is promised") for one in table.columns if one.outside]
    counts = ", ".join(f"count(*) filter ({condition})" for _, condition, _ in asked)
    found = connection.execute(f"select {counts or '0'} from {relation}").fetchone() or (0,)  # noqa: S608
    for (name, _, what), count in zip(asked, found, strict=False):
        if count:
            yield f"{table.name}.{name}: {count} {'row' if count == 1 else 'rows'} {what}"


def _twice(connection: duckdb.DuckDBPyConnection, relation: str, table: ServedTable) -> Iterator[str]:
    twice = connection.execute(
        f"select {table.grain_list} from {relation} group by all having count(*) > 1 limit 1"  # noqa: S608
    ).fetchone()
    if twice:
        yield f"{table.name}: more than one row for ({', '.join(table.grain)}) = {twice}"


BY_KIND = {"text": "VARCHAR", "timestamp": "TIMESTAMP", "date": "DATE", "integer": "BIGINT", "boolean": "BOOLEAN"}


@lru_cache(maxsize=1)
def served_tables() -> tuple[ServedTable, ...]:
    """The tables of `data_contracts/served`, by name."""
    found = contracts.served().values()
    types = duckdb_types({_spelling(column) for contract in found for column in contract.columns})
    return tuple(_table(contract, types) for contract in found)


def _table(contract: contracts.Contract, types: Mapping[str, str]) -> ServedTable:
    columns = tuple(
        Column(column.name, types[_spelling(column)], column.required, _outside(column)) for column in contract.columns
    )
    return ServedTable(contract.name, columns, contract.keys, contract.names_people)


def _outside(column: contracts.Column) -> str | None:
    """What the contract rules out: words other than the listed, and numbers beyond its bounds; None is neither."""
    name, conditions = quoted(column.name), []
    if column.allowed and column.kind == "text":
        words = ", ".join("'{}'".format(word.replace("'", "''")) for word in column.allowed)
        conditions.append(f"{name} not in ({words})")
    for sign, bound in (("<", column.minimum), ("<=", column.above), (">", column.maximum)):
        conditions += [f"{name} {sign} {bound}"] if bound is not None else []
    return " or ".join(conditions) or None


def duckdb_types(spellings: Iterable[str]) -> dict[str, str]:
    """DuckDB's one name of each type, by the spelling of a contract, which may be any of its ways."""
    asked = sorted(spellings)
    with duckdb.connect() as connection:
        names = connection.execute(
            "select " + ", ".join(f"typeof(cast(null as {spelling}))" for spelling in asked)
        ).fetchone()
    return dict(zip(asked, names or (), strict=True))


def _spelling(column: contracts.Column) -> str:
    return column.physical or BY_KIND[column.kind]
