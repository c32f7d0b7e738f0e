"""Files: every form gives the same records, and a broken file says what is wrong with it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_contracts.contract import load
from data_contracts.judge import judge
from data_contracts.records import as_json
from orchestration.readers import read_records
from orchestration.text_lines import FileRejectedError
from tests.data_contracts.records import NOW, record

HEADER = "touch_key,occurred_at,person_key,channel,origin"
ROW = "t1,2026-11-01T10:00:00Z,p1,web,web"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") and isinstance(content, str) else data)
    return path


def rows(path: Path, dataset: str = "touches") -> list[dict[str, Any]]:
    verdict = judge(load(dataset), read_records(load(dataset), path), now=NOW)
    assert verdict.rejected == []
    return verdict.rows


def told(path: Path, dataset: str = "touches") -> str:
    with pytest.raises(FileRejectedError) as error:
        list(read_records(load(dataset), path))
    return str(error.value)


CREATIVE = {"platform": "meta", "creative_id": "1", "format": "image", "offers": ["free", "zwei \u20ac"]}


def test_rows_without_a_word_are_none(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", f"{HEADER}\r\n{ROW}\r\n,,,,\r\n, ,,,\r\n\r\n,,,,,\r\n")
    assert [row["touch_key"] for row in rows(path)] == ["t1"]


def test_every_form_of_a_file_gives_the_same_rows(tmp_path: Path) -> None:
    header, cells = ",".join(CREATIVE), 'meta,1,image,"[""free"", ""zwei \u20ac""]"'
    line = json.dumps(CREATIVE)
    pq.write_table(pa.Table.from_pylist([CREATIVE]), tmp_path / "c.parquet")
    paths = [
        written(tmp_path, "c.csv", f"{header}\n{cells}\n"),
        written(tmp_path, "bom.csv", f"\ufeff{header}\r\n{cells}\r\n"),
        written(tmp_path, "C.CSV.gz", f"{header}\n{cells}"),
        written(tmp_path, "c.jsonl", f"{line}\n\n"),
        written(tmp_path, "c.jsonl.gz", line),
        tmp_path / "c.parquet",
    ]
    read = [rows(path, "creatives") for path in paths]
    assert read[0][0]["offers"] == '["free","zwei \u20ac"]'
    assert all(one == read[0] for one in read)


def test_a_file_that_withdraws_needs_only_the_key(tmp_path: Path) -> None:
    withdrawn = {"touch_key": "t1", "_deleted": True}
    pq.write_table(pa.Table.from_pylist([withdrawn]), tmp_path / "t.parquet")
    paths = [
        written(tmp_path, "t.csv", "touch_key,_deleted\nt1,true\n"),
        written(tmp_path, "t.jsonl", json.dumps(withdrawn)),
        tmp_path / "t.parquet",
    ]
    assert [[(row["touch_key"], row["_deleted"]) for row in rows(path)] for path in paths] == [[("t1", True)]] * 3
    keyless = written(tmp_path, "keyless.csv", "_deleted\ntrue\n")
    assert told(keyless) == "keyless.csv: required columns are missing: touch_key"


def test_columns_come_in_any_order_and_a_cell_may_hold_a_line_break(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", f'x_note,{HEADER}\n"two\nlines, ""quoted""",{ROW}\n\n')
    (row,) = rows(path)
    assert json.loads(row["_extra"]) == {"x_note": 'two\nlines, "quoted"'}


def test_json_numbers_keep_their_decimals(tmp_path: Path) -> None:
    line = json.dumps(record("conversions")).replace('"12.50"', "99999999999999.1234")
    (row,) = rows(written(tmp_path, "c.jsonl", line), "conversions")
    assert row["value"] == Decimal("99999999999999.1234")


def test_parquet_keeps_types_and_zones(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{**record("conversions"), "value": Decimal("12.5"), "occurred_at": None}])
    instants = pa.array([1_761_998_400_000_000_000], pa.timestamp("ns", tz="America/New_York"))
    table = table.set_column(table.schema.get_field_index("occurred_at"), "occurred_at", instants)
    pq.write_table(table, tmp_path / "c.parquet")
    (row,) = rows(tmp_path / "c.parquet", "conversions")
    assert row["occurred_at"] == datetime(2025, 11, 1, 12, tzinfo=UTC)
    assert row["value"] == Decimal("12.5")


def test_parquet_tells_whole_numbers_by_decimals_too(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([record("ad_delivery")])
    counts = pa.array([Decimal(120)], pa.decimal128(38, 0))
    table = table.set_column(table.schema.get_field_index("clicks"), "clicks", counts)
    pq.write_table(table, tmp_path / "d.parquet")
    assert rows(tmp_path / "d.parquet", "ad_delivery")[0]["clicks"] == 120


def test_parquet_values_that_python_cannot_hold_are_rejected_one_by_one(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([record("touches"), record("touches")])
    instants = pa.array([1_761_998_400_000_000, 2**62], pa.timestamp("us", tz="UTC"))
    table = table.set_column(table.schema.get_field_index("occurred_at"), "occurred_at", instants)
    pq.write_table(table, tmp_path / "t.parquet")
    verdict = judge(load("touches"), read_records(load("touches"), tmp_path / "t.parquet"), now=NOW)
    assert (len(verdict.lines), [one.field for one in verdict.rejected]) == (1, ["occurred_at"])


NO_TEXT = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")])
FAR = pa.array([2**62], pa.timestamp("us", tz="UTC"))
ODD = {
    "a zone that nobody knows": ("occurred_at", pa.array([0], pa.timestamp("us", tz="Mars/Olympus"))),
    "an offset as a zone": ("occurred_at", pa.array([0], pa.timestamp("us", tz="+5:30"))),
    "a list of no texts": ("person_key", pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), NO_TEXT)),
    "a list beyond the calendar": ("person_key", pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), FAR)),
    "a struct of no texts": ("person_key", pa.StructArray.from_arrays([NO_TEXT], ["k"])),
    "a dictionary of no texts": ("person_key", pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), NO_TEXT)),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_parquet_value_is_rejected_with_its_row_alone(tmp_path: Path, odd: str) -> None:
    field, column = ODD[odd]
    bad = {**{name: [value] for name, value in record("touches").items()}, field: column}
    pq.write_table(pa.table({**bad, "x_note": column}), tmp_path / "t.parquet")
    verdict = judge(load("touches"), read_records(load("touches"), tmp_path / "t.parquet"), now=NOW)
    assert [one.field for one in verdict.rejected] == [field]
    as_json(verdict.rejected[0].record)


def test_an_unknown_column_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    message = "unknown column 'chanel'; did you mean 'channel'?"
    assert message in told(written(tmp_path, "t.csv", f"{HEADER},chanel\n"))
    assert message in told(written(tmp_path, "t.jsonl", json.dumps({**record("touches"), "chanel": "web"})))
    pq.write_table(pa.table({**{name: ["x"] for name in record("touches")}, "chanel": ["x"]}), tmp_path / "t.parquet")
    assert message in told(tmp_path / "t.parquet")


def test_of_the_export_of_another_program_it_is_told_what_the_set_needs(tmp_path: Path) -> None:
    # only its first column was named, and whoever renamed that was told of the next one
    message = "no column of orders is there, which needs connection_ref, order_id, order_ref, created_at, updated_at,"
    export = written(tmp_path, "orders_export.csv", "Name,Email,Financial Status,Paid at\n#1001,a@example.com,paid,\n")
    with pytest.raises(FileRejectedError, match=message):
        list(read_records(load("orders"), export))
    lines = written(tmp_path, "charges.jsonl", json.dumps({"id": "ch_1", "object": "charge"}))
    with pytest.raises(FileRejectedError, match=message):
        list(read_records(load("orders"), lines))
    assert "no column of" not in told(written(tmp_path, "t.csv", f"{HEADER},chanel\n"))


BROKEN: list[tuple[str, str | bytes, str]] = [
    ("t.csv", "", "t.csv: the file is empty"),
    ("t.csv", f"\n{HEADER}\n{ROW}\n", "t.csv: line 1 is blank; it must name the columns"),
    ("t.csv", f"{HEADER}\n{ROW}\n".replace(",", ";"), "t.csv: the columns are separated by ';'; it must be a comma"),
    ("t.csv", f"{HEADER}\n{ROW}\n".replace(",", "\t"), "t.csv: the columns are separated by '\\t'; it must be a comma"),
    ("t.csv", f"{HEADER},,\n{ROW},,\n", "t.csv: column 6 has no name"),
    ("t.jsonl", b"", "t.jsonl: the file is empty"),
    ("t.jsonl.gz", "", "t.jsonl.gz: the file is empty"),
    ("t.csv", f"{HEADER},channel\n", "t.csv: column 'channel' is there twice"),
    ("t.csv", "touch_key,person_key\n", "t.csv: required columns are missing: occurred_at, channel, origin"),
    ("t.csv", f"{HEADER}\n{ROW}\n{ROW},more\n", "t.csv: line 3 has 6 cells, the header has 5"),
    ("t.csv", f"{HEADER}\n{ROW}\nt2,2026\n", "t.csv: line 3 has 2 cells, the header has 5"),
    ("t.csv", f'{HEADER}\n"t1,', "t.csv: line 2: not CSV (unexpected end of data)"),
    ("t.csv", f'{HEADER}\n{ROW}\n"t2\n",{ROW}, "\n', "t.csv: line 3 has 7 cells, the header has 5"),
    ("t.csv", f'{HEADER}\n{ROW}\n"a\nb"c,{ROW}\n', "t.csv: line 3: not CSV (',' expected after '\"')"),
    ("t.csv", f"{HEADER}\n{ROW}\n".encode().replace(b"p1", b"p\xff"), "t.csv: line 2: not UTF-8 text (byte 0xff)"),
    (
        "t.csv",
        (f"{HEADER}\n" + f"{ROW}\r\n" * 900 + f"\r{ROW}\u00e9").encode("cp1252"),
        "t.csv: line 903: not UTF-8 text (byte 0xe9)",
    ),
    ("t.csv", f"{HEADER}\n{ROW}\n".encode("utf-16"), "t.csv: UTF-16 text; save it as UTF-8"),
    ("t.jsonl", "\ufeff{}".encode("utf-16-be"), "t.jsonl: UTF-16 text; save it as UTF-8"),
    ("t.csv.gz", gzip.compress(f"{HEADER}\n{ROW}\n".encode())[:-9], "t.csv.gz: the gzip data is cut short or damaged"),
    ("t.csv.gz", b"no gzip", "t.csv.gz: the gzip data is cut short or damaged"),
    ("t.jsonl", '{"touch_key": "t1"}\n{"touch_key": ', "t.jsonl: line 2 is not JSON; each line must hold one object"),
    ("t.jsonl", '\n{"a": 1, "a": 2}', "t.jsonl: line 2: the key 'a' is there twice in one object"),
    ("t.jsonl", '{"x": {"b": 1, "a": 1, "a": 2}}', "t.jsonl: line 1: the key 'a' is there twice in one object"),
    ("t.jsonl", "[1]", "t.jsonl: line 1 is not a JSON object; each line must hold one"),
    ("t.jsonl", "[" * 100_000, "t.jsonl: line 1 is not JSON; each line must hold one object"),
    (
        "l.jsonl.gz",
        '{"x_note": "' + "n" * 2**24 + '"}',
        "l.jsonl.gz: a record is longer than 16777216 characters",
    ),
    ("long.csv.gz", f"{HEADER}\n" + "n" * 2**25, "long.csv.gz: a record is longer than 16777216 characters"),
    ("torn.csv", f'{HEADER}\n"' + ("n" * 999 + "\n") * 17_000, "torn.csv: a record is longer than 16777216 characters"),
    ("wide.csv", HEADER + "".join(f",x_{n}" for n in range(1000)), "wide.csv: there are more than 1000 columns"),
    ("t.parquet", b"PAR1 and no more", "t.parquet: not a readable Parquet file"),
    ("t.xlsx", b"PK", "t.xlsx: not a .csv, .jsonl, .csv.gz, .jsonl.gz or .parquet file"),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN, ids=[message for _, _, message in BROKEN])
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    assert told(written(tmp_path, name, content)) == message


def test_a_parquet_file_with_a_damaged_page_says_so(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([record("touches")] * 100), tmp_path / "t.parquet")
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    # the first page, behind the four bytes that every Parquet file begins with; its index at the end is whole
    content[4:40] = b"\xa5" * 36
    assert told(written(tmp_path, "t.parquet", bytes(content))) == "t.parquet: not a readable Parquet file"


def test_what_the_disk_refuses_is_not_the_files_fault(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        list(read_records(load("touches"), tmp_path / "t.csv"))


def test_a_cell_of_a_megabyte_reaches_the_judge(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n{ROW.replace('p1', 'x' * 1_000_000)}\n")
    verdict = judge(load("touches"), read_records(load("touches"), path), now=NOW)
    assert [(one.line, one.reason) for one in verdict.rejected] == [(2, "longer than 255 characters")]


def test_a_file_may_be_longer_than_a_record(tmp_path: Path) -> None:
    line = json.dumps({**record("touches"), "x_note": "n" * 2**23})
    for name, content in (
        ("t.jsonl.gz", f"{line}\n" * 3),
        ("t.csv", f"{HEADER},x_note\n" + f"{ROW},{'n' * 2**23}\n" * 3),
    ):
        assert len([*read_records(load("touches"), written(tmp_path, name, content))]) == 3


BOUNDED = """
import resource, sys
from pathlib import Path
from data_contracts.contract import load
from orchestration.readers import read_records

most = 3 * 2**30
resource.setrlimit(resource.RLIMIT_AS, (most, most))
print(sum(1 for _ in read_records(load("touches"), Path(sys.argv[1]))))
"""


REPEATED = pa.DictionaryArray.from_arrays(pa.array([0] * 4_000, pa.int32()), pa.array(["n" * 2**20]))
EACH = pa.array(range(4_001), pa.int32())
NOTES = {
    "a column": REPEATED,
    "an object": pa.StructArray.from_arrays([REPEATED], ["text"]),
    "a list": pa.ListArray.from_arrays(EACH, REPEATED),
    "a map": pa.MapArray.from_arrays(EACH, REPEATED, REPEATED),
}


def with_note(folder: Path, note: pa.Array) -> Path:
    """A Parquet file of touches, with one more column of any kind."""
    columns = {name: [value] * len(note) for name, value in record("touches").items()}
    pq.write_table(pa.table({**columns, "x_note": note}), folder / "t.parquet", compression="zstd", store_schema=False)
    assert (folder / "t.parquet").stat().st_size < 2**20
    return folder / "t.parquet"


@pytest.mark.parametrize("note", NOTES)
def test_a_text_that_stands_in_many_rows_of_a_parquet_file_takes_no_more_memory_than_once(
    tmp_path: Path, note: str
) -> None:
    path = with_note(tmp_path, NOTES[note])
    done = subprocess.run([sys.executable, "-c", BOUNDED, str(path)], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr[-300:]) == ("4000", "")


def listed(number: int) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, number], pa.int32()), pa.nulls(number, pa.int8()))


def test_a_parquet_row_that_fills_the_memory_is_refused(tmp_path: Path) -> None:
    assert told(with_note(tmp_path, listed(5_000_000))) == "t.parquet: a row takes more than 256 MB of memory"
    (row,) = rows(with_note(tmp_path, listed(1000)))
    assert json.loads(row["_extra"]) == {"x_note": [None] * 1000}


def test_lists_of_a_parquet_file_that_fill_the_memory_are_refused_before_they_are_read(tmp_path: Path) -> None:
    message = "t.parquet: the lists of a row group hold too many values; write smaller row groups"
    assert told(with_note(tmp_path, listed(40_000_000))) == message
