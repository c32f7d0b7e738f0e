"""The few statements that every request runs: compiled once, and run by the driver itself.

What SQLAlchemy does around one execution takes ten times as long as SQLite takes for such a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, make_transient_to_detached

Converter = Callable[[Any], Any] | None


Row = TypeVar("Row", bound=DeclarativeBase)


class Prepared:
    """One statement whose parameters all have a name; `columns` are those it gives a value for, if it inserts."""

    def __init__(self, statement: sa.ClauseElement, *, columns: Sequence[str] | None = None) -> None:
        self._statement, self._columns = statement, columns
        self._written: dict[str, Written] = {}

    def rows(self, connection: sa.Connection, **values: Any) -> list[list[Any]]:
        """All rows, with the values that SQLAlchemy would give; none of a statement that only changes.

        Runs in the transaction of `connection`. Raises what SQLAlchemy raises, without the parameters.
        """
        if not connection.in_transaction():
            connection.begin()
        return self.at_once(connection, values)

    def at_once(self, connection: sa.Connection, values: dict[str, Any]) -> list[list[Any]]:
        """The same for what begins a transaction itself."""
        dialect = connection.dialect
        written = self._written.get(dialect.name)
        if written is None:
            written = self._written[dialect.name] = Written(self._statement, self._columns, dialect)
        driver_error = dialect.loaded_dbapi.Error
        cursor = connection.connection.cursor()
        try:
            cursor.execute(written.text, written.bound(values))
            return written.read(cursor) if cursor.description else []
        except driver_error as error:
            raise sa.exc.DBAPIError.instance(
                written.text, None, error, driver_error, hide_parameters=True, dialect=dialect
            ) from error
        finally:
            cursor.close()


class Written:
    """A statement in the words of one database."""

    def __init__(self, statement: sa.ClauseElement, columns: Sequence[str] | None, dialect: sa.Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect, column_keys=columns)
        self.text: str = compiled.string
        self._dialect = dialect
        binds: dict[str, Converter] = {
            name: bind.type.dialect_impl(dialect).bind_processor(dialect) for name, bind in compiled.binds.items()
        }
        self._has_names = compiled.positiontup is None
        self._binds = [(name, binds[name]) for name in compiled.positiontup or binds]
        self._types = [column.type for column in getattr(statement, "selected_columns", ())]
        self._converters: list[tuple[int, Callable[[Any], Any]]] | None = None

    def bound(self, values: dict[str, Any]) -> Any:
        """The parameters as the driver takes them."""
        if self._has_names:
            return {name: convert(values[name]) if convert else values[name] for name, convert in self._binds}
        return [convert(values[name]) if convert else values[name] for name, convert in self._binds]

    def read(self, cursor: Any) -> list[list[Any]]:
        """What a cursor found."""
        if self._converters is None:
            # what a driver makes of a number depends on what it calls its type
            made = [
                kind.dialect_impl(self._dialect).result_processor(self._dialect, told[1])
                for kind, told in zip(self._types, cursor.description, strict=True)
            ]
            self._converters = [(at, convert) for at, convert in enumerate(made) if convert is not None]
        rows = [list(row) for row in cursor.fetchall()]
        for row in rows:
            for at, convert in self._converters:
                row[at] = convert(row[at])
        return rows


def detached(kind: type[Row], values: Sequence[Any]) -> Row:
    """A row of all columns of its table, in their order, as a session leaves it that loaded it and was closed."""
    mapper: Any = sa.inspect(kind)
    one: Row = mapper.class_manager.new_instance()
    one.__dict__.update(zip(_attributes(kind), values, strict=True))
    make_transient_to_detached(one)
    return one


@cache
def _attributes(kind: type[DeclarativeBase]) -> list[str]:
    mapper: Any = sa.inspect(kind)
    return [mapper.get_property_by_column(column).key for column in mapper.local_table.c]
