"""Which landed rows the check of a contract judges, and what it remembers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_contracts.contract import Contract, landed
from orchestration import checks, raw_rows
from orchestration.checks import contract_check
from orchestration.lake import Lake
from orchestration.raw_rows import RawRows
from touchledger.settings import Settings

CONTRACT = landed()["touches"]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
TOUCH = {"occurred_at": "2026-03-01T00:00:00Z", "person_key": "p", "channel": "web", "origin": "web"}


@pytest.fixture
def lake(home: Path) -> Lake:
    found = Lake(Settings(home=home).lake)
    found.prepare()
    return found


def land(lake: Lake, batch: str, *keys: str, at: datetime = NOW) -> Path:
    records = [{**TOUCH, "touch_key": key} for key in keys]
    return lake.land(dataset="touches", profile_id="p", source="test", batch=batch, records=records, now=at).path


def judged(lake: Lake, contract: Contract = CONTRACT) -> tuple[bool, Any, Any]:
    """Whether the contract was kept, by how many files and rows."""
    settings = Settings(home=lake.root.parent)
    found = contract_check(contract, RawRows(settings, contract), settings)
    assert isinstance(found, dg.AssetCheckResult)
    return found.passed, found.metadata["files"].value, found.metadata["rows"].value


def spoil(path: Path) -> None:
    """Take the channels out of a landed file, as nothing of ours does."""
    table = pq.ParquetFile(path).read()
    at = table.schema.get_field_index("channel")
    pq.write_table(table.set_column(at, "channel", pa.nulls(len(table), pa.string())), path)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"by": 1}'])
def test_damaged_verdicts_count_for_nothing(lake: Lake, content: bytes) -> None:
    # every build failed with "Expecting value" over a file of zero bytes
    land(lake, "one", "a", "b")
    assert judged(lake) == (True, 1, 2)
    verdicts = lake.root.parent / "checked" / "touches.json"
    verdicts.write_bytes(content)
    assert judged(lake) == (True, 1, 2)
    assert judged(lake) == (True, 0, 0)


def test_only_files_that_were_not_judged_yet_are_and_only_their_rows_are_read(lake: Lake) -> None:
    assert judged(lake) == (True, 0, 0)
    land(lake, "one", "a", "b")
    land(lake, "two", "c")
    assert judged(lake) == (True, 2, 3)
    assert judged(lake) == (True, 0, 0)
    land(lake, "three", "d")
    land(lake, "two", "c", "e")
    assert judged(lake) == (True, 2, 3)
    land(lake, "two")
    assert judged(lake) == (True, 1, 0)


def test_what_broke_the_contract_is_judged_until_it_keeps_it(lake: Lake) -> None:
    land(lake, "one", "a")
    assert judged(lake) == (True, 1, 1)
    spoil(land(lake, "two", "b"))
    assert judged(lake) == judged(lake) == (False, 1, 1)
    land(lake, "two", "b", "c")
    assert judged(lake) == (True, 1, 2)


def test_what_many_frames_break_is_told_once_with_all_its_rows(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_rows, "FRAME_ROWS", 2048)
    spoil(land(lake, "one", *map(str, range(5_000))))
    settings = Settings(home=lake.root.parent)
    found = contract_check(CONTRACT, RawRows(settings, CONTRACT), settings)
    broken = found.metadata["broken"].value
    assert broken == [
        {"expectation": "column_values_to_not_be_null", "column": "channel", "unexpected": 5_000, "error": None}
    ]
    # a command printed neither column nor file, and whoever had no Dagster open could not tell what to import again
    said = "channel: column_values_to_not_be_null, rows: 5,000; the first found in raw/touches/p/test/one.parquet"
    assert found.description == said


def test_of_several_files_the_one_that_breaks_the_contract_is_named(lake: Lake) -> None:
    land(lake, "one", "a")
    spoil(land(lake, "two", "b", "d"))
    land(lake, "three", "c")
    settings = Settings(home=lake.root.parent)
    found = contract_check(CONTRACT, RawRows(settings, CONTRACT), settings)
    assert found.description is not None
    assert found.description.endswith("null, rows: 2; the first found in raw/touches/p/test/two.parquet")


def test_the_files_landed_last_are_judged_first_and_older_ones_later(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(land(lake, "one", "a", "b"))
    land(lake, "two", "c", at=NOW + timedelta(hours=1))
    monkeypatch.setattr(checks, "NEWEST_ROWS", 1)
    assert judged(lake) == (True, 1, 1)
    # the older ones are judged by the next build
    assert judged(lake) == judged(lake) == (False, 1, 2)


def test_another_contract_is_judged_by_every_file(lake: Lake) -> None:
    land(lake, "one", "a")
    land(lake, "two", "b")
    assert judged(lake) == (True, 2, 2)
    assert judged(lake, replace(CONTRACT, fingerprint="another")) == (True, 2, 2)
    # the older rules come back, of which nothing is remembered
    assert judged(lake) == (True, 2, 2)
