"""Readers of the three file forms, each giving a file's records one by one; a broken file is refused as a whole."""

from __future__ import annotations

import csv
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from data_contracts.contract import Contract
from data_contracts.judge import DELETED, unknown_column
from data_contracts.records import RepeatedKeyError, members
from orchestration.text_lines import LONGEST_RECORD, FileRejectedError, Lines, text_of

MOST_COLUMNS = 1000
# what spreadsheets write between cells instead of the comma
SEPARATORS = (";", "\t", "|")
LONGEST_NUMBER = 40
ROWS_AT_ONCE = 20_000
# of a Parquet file: of its numbers and lists when they are read, of its rows when they are made
BYTES_AT_ONCE = 2**28
# of one value in Python, beside its text
OF_A_VALUE = 64
# bytes that are no text, instants beyond the calendar, time zones that nobody knows
BEYOND_PYTHON = (ValueError, OverflowError, KeyError)

Record = Mapping[str, Any]
Reader = Callable[[Contract, Path], Iterator[Record]]


def legible(path: Path | str) -> str:
    """A path as text that can be stored and shown; bytes of a name that are no UTF-8 become replacement characters."""
    return os.fsencode(path).decode("utf-8", "replace")


def reader_of(name: str) -> Reader | None:
    """What reads a file of that name; None where its ending is none of ours."""
    plain = name.lower()
    suffix = Path(plain.removesuffix(".gz")).suffix
    return None if suffix == ".parquet" and plain.endswith(".gz") else READERS.get(suffix)


def read_records(contract: Contract, path: Path) -> Iterator[Record]:
    """The file's records, read as they are asked for. Raises FileRejectedError, at any point of the file."""
    name, reader = legible(path.name), reader_of(path.name)
    if reader is None:
        raise FileRejectedError(f"{name}: not a .csv, .jsonl, .csv.gz, .jsonl.gz or .parquet file")
    if path.stat().st_size == 0:
        raise FileRejectedError(f"{name}: the file is empty")
    with _told(name):
        yield from reader(contract, path)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Every way in which bytes can be broken, said in words."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise FileRejectedError(f"{name}: not UTF-8 text (byte 0x{error.object[error.start]:02x})") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FileRejectedError(f"{name}: the gzip data is cut short or damaged") from None
    except (pa.ArrowException, OSError) as error:
        # damaged pages are told as OSError too; what the disk itself refuses has a number
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileRejectedError(f"{name}: not a readable Parquet file") from None
    except FileRejectedError as error:
        raise FileRejectedError(f"{name}: {error}") from None


def _check_columns(contract: Contract, names: list[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise FileRejectedError(f"there are more than {MOST_COLUMNS} columns")
    if "" in names:
        raise FileRejectedError(f"column {names.index('') + 1} has no name")
    times = Counter(names)
    twice = next((name for name in names if times[name] > 1), None)
    if twice is not None:
        raise FileRejectedError(f"column {twice!r} is there twice")
    _check_known(contract, names)
    required = _required(contract)
    # rows that are withdrawn need no more, and of the others the judge says what they lack
    missing = [name for name in (contract.keys if DELETED.name in names else required) if name not in names]
    if missing:
        raise FileRejectedError(f"required columns are missing: {', '.join(missing)}")


def _required(contract: Contract) -> list[str]:
    return [column.name for column in contract.columns if column.required]


def _check_known(contract: Contract, names: Collection[str]) -> None:
    for name in names:
        if name not in contract.column and name != DELETED.name and not name.startswith("x_"):
            required = _required(contract)
            # it is the export of another program: one wrong name after the other would lead nowhere
            is_foreign = contract.column.keys().isdisjoint(names)
            others = f"; no column of {contract.name} is there, which needs {', '.join(required)}" if is_foreign else ""
            raise FileRejectedError(unknown_column(contract, name) + others)


def _csv(contract: Contract, path: Path) -> Iterator[Record]:
    before = csv.field_size_limit(LONGEST_RECORD)
    try:
        with text_of(path) as file:
            lines = Lines(file)
            rows = csv.reader(lines, strict=True)
            try:
                header = next(rows, None)
                _check_header(contract, header)
                yield from _csv_rows(lines, rows, header or [])
            except csv.Error as error:
                raise FileRejectedError(f"line {lines.begin}: not CSV ({error})") from None
    finally:
        csv.field_size_limit(before)


def _check_header(contract: Contract, header: list[str] | None) -> None:
    if header is None:
        raise FileRejectedError("the file is empty")
    if not header:
        raise FileRejectedError("line 1 is blank; it must name the columns")
    other = next((sign for sign in SEPARATORS if len(header) == 1 and sign in header[0]), None)
    if other is not None:
        raise FileRejectedError(f"the columns are separated by {other!r}; it must be a comma")
    _check_columns(contract, header)


def _csv_rows(lines: Lines, rows: Iterator[list[str]], header: list[str]) -> Iterator[Record]:
    width = len(header)
    lines.begin_record()
    for row in rows:
        # spreadsheets write a row of empty cells for each that somebody once wrote in
        if any(map(str.strip, row)):
            if len(row) != width:
                raise FileRejectedError(f"line {lines.begin} has {len(row)} cells, the header has {width}")
            yield dict(zip(header, row, strict=True))
        lines.begin_record()


def _jsonl(contract: Contract, path: Path) -> Iterator[Record]:
    known = frozenset(contract.column) | {DELETED.name}
    with text_of(path) as file:
        lines = Lines(file)
        for line in lines:
            if line.strip():
                record = _json_line(line, lines.number)
                if not record.keys() <= known:
                    _check_known(contract, record)
                yield record
            lines.begin_record()
    if lines.number == 0:
        raise FileRejectedError("the file is empty")


def _json_line(line: str, number: int) -> dict[str, Any]:
    try:
        record = JSON.decode(line)
    except RepeatedKeyError as error:
        raise FileRejectedError(f"line {number}: {error}") from None
    except (ValueError, ArithmeticError, RecursionError):
        raise FileRejectedError(f"line {number} is not JSON; each line must hold one object") from None
    if not isinstance(record, dict):
        raise FileRejectedError(f"line {number} is not a JSON object; each line must hold one")
    return record


def whole(text: str) -> int | str:
    """A JSON number without decimals; as text where it is longer than any that we keep."""
    return int(text) if len(text) <= LONGEST_NUMBER else text


# numbers keep their decimals as written; NaN and Infinity are left to the judge
JSON = json.JSONDecoder(parse_float=Decimal, parse_int=whole, parse_constant=float, object_pairs_hook=members)


def _parquet(contract: Contract, path: Path) -> Iterator[Record]:
    names = pq.read_schema(path).names
    _check_columns(contract, names)
    for part in parquet_parts(path):
        for row in zip(*map(values_of, part.columns), strict=True):
            yield dict(zip(names, row, strict=True))


def parquet_parts(source: Path | pa.BufferReader) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file, as many at once as memory holds, however few bytes of the file say that they are.

    Raises FileRejectedError where lists or a single row are beyond that.
    """
    told = pq.read_metadata(source)
    leaves = [told.schema.column(number) for number in range(told.num_columns)]
    # so a text that stands in many rows is held once
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    # texts that are known to be JSON are read so only where nobody says what they are
    is_plain = all(leaf.logical_type.type != "JSON" for leaf in leaves)
    with pq.ParquetFile(source, metadata=told, read_dictionary=texts, arrow_extensions_enabled=is_plain) as file:
        at_once = [_rows_at_once(told.row_group(number), leaves) for number in range(told.num_row_groups)]
        for number, rows in enumerate(at_once):
            for batch in file.iter_batches(rows, row_groups=[number]):
                yield from _steps(batch)


def _rows_at_once(group: pq.RowGroupMetaData, leaves: list[pq.ColumnSchema]) -> int:
    """How many rows are read at once. Any one of them may hold all values of the row group's lists."""
    row = in_lists = 0
    for number, leaf in enumerate(leaves):
        width = max(8, leaf.length)
        if leaf.max_repetition_level:
            in_lists += width * group.column(number).num_values
        else:
            row += width
    if in_lists > BYTES_AT_ONCE:
        raise FileRejectedError("the lists of a row group hold too many values; write smaller row groups")
    return max(1, min(ROWS_AT_ONCE, BYTES_AT_ONCE // max(1, row)))


def _steps(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, as many at once as Python may hold."""
    fitting = BYTES_AT_ONCE // max(1, sum(map(_widest, batch.columns)))
    step = max(1, min(ROWS_AT_ONCE, fitting))
    for begin in range(0, len(batch), step):
        part = batch.slice(begin, step)
        if not fitting and sum(map(_widest, part.columns)) > BYTES_AT_ONCE:
            raise FileRejectedError(f"a row takes more than {BYTES_AT_ONCE >> 20} MB of memory")
        yield pa.RecordBatch.from_arrays([_plain(column) for column in part.columns], batch.schema.names)


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _widest(column: pa.Array) -> int:
    """Bytes of the longest value of a column, as Python holds it."""
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        return _widest(column.storage)
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        return OF_A_VALUE + (pc.max(lengths).as_py() or 0)
    if pa.types.is_map(kind):
        pair = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        return _widest(column.cast(pa.list_(pair)))
    if pa.types.is_struct(kind):
        return 4 * OF_A_VALUE + sum(map(_widest, column.flatten()))
    if pa.types.is_nested(kind):
        longest = pc.max(pc.list_value_length(column)).as_py() or 0
        return OF_A_VALUE + longest * (_widest(column.flatten()) if longest else 0)
    return OF_A_VALUE + (kind.byte_width if pa.types.is_fixed_size_binary(kind) else 0)


def values_of(column: pa.Array) -> list[Any]:
    """The values of a column; where Python cannot hold one, something that the judge refuses."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False)
    try:
        return list(column.to_pylist())
    except BEYOND_PYTHON:
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    """One value; where Python cannot hold it, one that the judge refuses, so that the row is not lost."""
    try:
        return scalar.as_py()
    except BEYOND_PYTHON:
        if pa.types.is_string(scalar.type) or pa.types.is_large_string(scalar.type):
            return scalar.as_buffer().to_pybytes().decode("utf-8", "surrogateescape")
        if pa.types.is_nested(scalar.type):
            return {"unreadable": str(scalar.type)}
        # a dictionary's value is a scalar again
        return _value(scalar.value) if isinstance(scalar.value, pa.Scalar) else str(scalar.value)


READERS: Mapping[str, Reader] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
