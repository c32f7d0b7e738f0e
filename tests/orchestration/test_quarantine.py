"""Quarantine: what was put right later is not counted, and nothing is lost."""

from __future__ import annotations

import tracemalloc
from datetime import timedelta
from pathlib import Path

import pytest

from orchestration.lake import Lake
from orchestration.quarantine import counted, rows
from tests.data_contracts.records import NOW, record
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
    assert len(list(rows(lake, "touches"))) == 5


def test_a_record_that_is_wrong_again_corrects_nothing(lake: Lake) -> None:
    for batch in ("1", "2"):
        land(lake, touches("a", **BAD), batch)
    assert corrected(lake) == [False, False]


def test_a_key_of_days_is_compared_as_days_and_a_wrong_one_as_nothing(lake: Lake) -> None:
    days = [record("ad_delivery", date=day, spend="-1") for day in (" 2026-03-01 ", "1999-12-31", "soon")]
    land(lake, days, "1", dataset="ad_delivery")
    land(lake, [record("ad_delivery", date="2026-03-01")], "2", dataset="ad_delivery")
    assert corrected(lake, "ad_delivery") == [True, False, False]


def test_a_key_of_identifiers_is_compared_in_their_normal_form(lake: Lake) -> None:
    said = {"kind_a": "email", "value_a": "Ann@Example.com", "kind_b": "phone", "value_b": "+1 415 555 0100"}
    odd = {**said, "value_b": "555 0100"}
    land(lake, [{**one, "observed_at": "soon"} for one in (said, odd)], "1", dataset="identities")
    land(lake, [{**said, "observed_at": "2026-03-01T09:00:00Z"}], "2", dataset="identities")
    assert corrected(lake, "identities") == [True, False]


def test_however_much_is_in_quarantine_little_of_it_is_held_at_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestration.replay.ROWS_AT_ONCE", 10)
    keys = [str(number) for number in range(500)]
    land(lake, touches(*keys, occurred_at="2026-11-20T00:00:00Z", x_note="n" * 10_000), "1")
    tracemalloc.start()
    try:
        assert [one.rows for one in counted(lake, "touches")] == [500]
        assert [one.line for one in rows(lake, "touches")] == [*range(1, 501)]
        (replayed,) = lake.replay(now=NOW + timedelta(days=5))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (replayed.rows_loaded, replayed.rows_quarantined) == (500, 0)
    # the texts of all of them are five million characters
    assert most < 2_000_000
