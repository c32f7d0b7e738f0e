"""Quarantine: what was put right later is not counted, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.lake import Lake
from orchestration.quarantine import counted, rows
from tests.data_contracts.records import record
from tests.orchestration.test_lake import BAD, land, touches

OTHER = "01900000-0000-7000-8000-00000000000b"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path / "lake")
    made.prepare()
    return made


def corrected(lake: Lake, dataset: str = "touches") -> list[bool]:
    return [one.is_corrected for one in rows(lake, dataset)]


def test_a_row_of_the_same_key_in_a_later_batch_corrects_whatever_its_source(lake: Lake) -> None:
    land(lake, [*touches("early"), *touches("again", **BAD)], "0")
    land(lake, [*touches(" a ", "early", **BAD), *touches("b", "same", **BAD), *touches("same")], "1")
    assert corrected(lake) == [False] * 5
    land(lake, touches("b"), "2", profile_id=OTHER)
    land(lake, touches("a"), "2", source="store")
    assert [one.line for one in rows(lake, "touches") if one.is_corrected] == [1]
    assert sum(reason.rows for reason in counted(lake, "touches")) == 4
    assert len(rows(lake, "touches")) == 5


def test_a_record_that_is_wrong_again_corrects_nothing(lake: Lake) -> None:
    for batch in ("1", "2"):
        land(lake, touches("a", **BAD), batch)
    assert corrected(lake) == [False, False]


def test_a_key_of_days_is_compared_as_days_and_a_wrong_one_as_nothing(lake: Lake) -> None:
    days = [record("ad_delivery", date=day, spend="-1") for day in (" 2026-03-01 ", "1999-12-31", "soon")]
    land(lake, days, "1", dataset="ad_delivery")
    land(lake, [record("ad_delivery", date="2026-03-01")], "2", dataset="ad_delivery")
    assert corrected(lake, "ad_delivery") == [True, False, False]
