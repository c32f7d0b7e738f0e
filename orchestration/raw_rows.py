"""A read of one data set's raw files: how many rows, how new, how much money."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from data_contracts.contract import Contract
from orchestration.batch_file import SCHEMA


class RawRows:
    """The raw files of one data set under `lake`; reads nothing until asked."""

    def __init__(self, lake: Path, contract: Contract) -> None:
        self._contract = contract
        self._folder = lake / "raw" / contract.name
        self._from = _read([self._folder / "**" / "*.parquet"])
        self.rows, self.profiles, self.batches, self.watermark = self._summary()

    @property
    def is_empty(self) -> bool:
        return self.rows == 0

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            return connection.execute(sql).fetchall()

    def _summary(self) -> tuple[int, int, int, datetime | None]:
        counted = "count(*), count(distinct _profile_id), count(distinct _batch), max(_loaded_at)"
        rows, profiles, batches, watermark = self._all(f"select {counted} from {self._from}")[0]  # noqa: S608
        return rows, profiles, batches, watermark

    def money(self) -> dict[str, dict[str, Decimal]]:
        """Sum of each amount column by currency."""
        amounts = [(one.name, one.currency_column) for one in self._contract.columns if one.currency_column]
        return {
            name: dict(
                self._all(
                    f"select {currency}, sum({name}) from {self._from}"  # noqa: S608
                    f" where {name} is not null group by 1 order by 1"
                )
            )
            for name, currency in amounts
        }

    def by_day(self, day: str, value: str) -> list[tuple[Any, Any]]:
        """(day, value) for SQL expressions of a date and of an aggregate, in the order of days."""
        return [
            (on, amount)
            for on, amount in self._all(
                f"select {day}, {value} from {self._from} group by 1 having {day} is not null order by 1"  # noqa: S608
            )
        ]

    def frame(self, files: Sequence[Path], newest: int) -> Any:
        """The contract's columns of some files' newest rows that are not withdrawn, as a pandas frame."""
        names = ", ".join(column.name for column in self._contract.columns)
        # files of an older contract lack its new columns, which the schema beside them has
        rows = _read([self._folder / SCHEMA, *files])
        with duckdb.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            return connection.execute(
                f"select {names} from {rows} where not _deleted order by _loaded_at desc limit {newest:d}"  # noqa: S608
            ).df()


def _read(paths: Sequence[Path]) -> str:
    listed = ", ".join("'{}'".format(str(path).replace("'", "''")) for path in paths)
    return f"read_parquet([{listed}], union_by_name = true)"
