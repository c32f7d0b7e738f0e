"""A read of one data set's raw files: how many rows, how new, how much money."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from data_contracts.contract import Contract
from orchestration.landed_facts import AS_THEY_ARE, SCHEMA, require_whole
from orchestration.limits import Config, limits
from touchledger.settings import Settings

# at most; a frame of these takes a hundred megabytes, and Great Expectations as much again
FRAME_ROWS = 204_800


class RawRows:
    """The raw files of one data set in the deployment's lake, within the warehouse's limits of memory and threads.

    Every read raises DamagedRawFileError where one of the files is damaged.
    """

    def __init__(self, settings: Settings, contract: Contract) -> None:
        self._contract = contract
        self._folder = settings.lake / "raw" / contract.name
        self._settings = settings
        self._from = _read([self._folder / "**" / "*.parquet"])
        self.rows, self.profiles, self.batches, self.watermark = self._summary()

    @property
    def is_empty(self) -> bool:
        return self.rows == 0

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        with self._naming_damage(), self._connected() as connection:
            return connection.execute(sql).fetchall()

    def _summary(self) -> tuple[int, int, int, datetime | None]:
        # a batch's name is its own only within a profile and source: the same file may be given to two profiles
        grouped = "select _profile_id, count(*) as n, max(_loaded_at) as newest"
        by_batch = f"{grouped} from {self._from} group by _profile_id, _source, _batch"
        counted = "cast(coalesce(sum(n), 0) as bigint), count(distinct _profile_id), count(*), max(newest)"
        rows, profiles, batches, watermark = self._all(f"select {counted} from ({by_batch})")[0]  # noqa: S608
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

    def frames(self, files: Sequence[Path]) -> Iterator[Any]:
        """The contract's columns of the files' rows that are not withdrawn, as pandas frames."""
        names = ", ".join(column.name for column in self._contract.columns)
        with self._naming_damage(), self._connected() as connection:
            # files of an older contract lack its new columns, which the schema beside them has
            rows = _read([self._folder / SCHEMA, *files])
            # by Arrow: DuckDB's own frames are made value by value, which costs as much as judging them
            found = connection.sql(f"select {names} from {rows} where not _deleted")  # noqa: S608
            yield from map(_frame, _together(found.to_arrow_reader(FRAME_ROWS)))

    def newest(self, files: Sequence[Path], rows_wanted: int) -> list[Path]:
        """As many of the files as hold so many rows, the last ones landed; those without a row among them."""
        by_file = self._all(
            "select filename, count(*)"  # noqa: S608
            f" from {_read(files, 'filename = true')} group by filename order by max(_loaded_at) desc, filename"
        )
        # a file without a row has no line there
        chosen, rows = [path for path in files if str(path) not in {name for name, _ in by_file}], 0
        for name, count in by_file:
            if rows >= rows_wanted:
                break
            chosen.append(Path(name))
            rows += count
        return chosen

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error:
            # of what is damaged within, DuckDB names neither the file nor its column
            for path in sorted(self._folder.rglob("*.parquet")):
                if path.name != SCHEMA:
                    require_whole(path)
            raise

    def _connected(self) -> duckdb.DuckDBPyConnection:
        connection = _database(self._settings).cursor()
        connection.execute("set timezone = 'UTC'")
        return connection


def spill_folder(settings: Settings) -> Path:
    """Where rows go that do not fit in memory; a killed process leaves them there."""
    return settings.home / "raw.tmp"


@lru_cache(maxsize=1)
def _database(settings: Settings) -> duckdb.DuckDBPyConnection:
    """An empty database in memory for every set of a run: to make one costs as much as reading a small set does."""
    config: Config = {
        **limits(settings),
        "temp_directory": str(spill_folder(settings)),
        # it would hold what was read of the lake while the models want the memory
        "enable_external_file_cache": False,
    }
    return duckdb.connect(config=config)


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows of the batches in tables of at most FRAME_ROWS, none of them empty."""
    # the reader ends a batch with each file, and judging a frame costs a tenth of a second however few rows it holds
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if rows and rows + batch.num_rows > FRAME_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
        waiting.append(batch)
        rows += batch.num_rows
    if rows:
        yield pa.Table.from_batches(waiting)


def _frame(rows: pa.Table) -> Any:
    """A pandas frame in which a value that is absent leaves its column's numbers and booleans what they are."""
    # half a second to import, which most runs have nothing to check for
    import pandas as pd

    # decimals are objects there, a hundred times slower to compare
    plain = [field.with_type(pa.float64()) if pa.types.is_decimal(field.type) else field for field in rows.schema]
    kept = {pa.bool_(): pd.BooleanDtype(), pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    return rows.cast(pa.schema(plain)).to_pandas(types_mapper=kept.get, date_as_object=False)


def _read(paths: Sequence[Path], *options: str) -> str:
    listed = ", ".join("'{}'".format(str(path).replace("'", "''")) for path in paths)
    return f"read_parquet({', '.join((f'[{listed}]', AS_THEY_ARE, *options))})"
