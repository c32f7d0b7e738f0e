"""Days that were pulled one by one are put together once nobody revises them: rows stay, and any of them can change."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from orchestration import gathered
from orchestration.gathered import gather, held
from orchestration.lake import Lake
from orchestration.landed_facts import AS_THEY_ARE

ONE, OTHER = "01900000-0000-7000-8000-000000000001", "01900000-0000-7000-8000-000000000002"
PROFILE = "p"
FIRST = date(2026, 6, 1)
MOST = 3
# meta revises 28 days, google 90; a fortnight more is left alone
KEPT = {"meta": 42, "google": 104}


@pytest.fixture
def lake(home: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setattr(gathered, "MOST_PULLED", MOST)
    made = Lake(home / "lake")
    made.prepare()
    return made


def _land(lake: Lake, day: date, ads: Iterable[str] = ("a", "b"), *, of: str = ONE, platform: str = "meta") -> None:
    account = {"platform": platform, "ad_account_id": "act", "ad_set_id": "s", "campaign_id": "c", "currency": "USD"}
    rows = [{**account, "ad_id": ad, "date": day, "spend": "1.00", "impressions": 9, "clicks": 1} for ad in ads]
    lake.land(dataset="ad_delivery", profile_id=PROFILE, source=platform, batch=f"{of}-{day}", records=rows)


def _days(lake: Lake, platform: str = "meta", *, of: str = ONE) -> None:
    """As many first days as are put together, and the first of those that are not."""
    for count in range(MOST):
        _land(lake, FIRST + timedelta(days=count), of=of, platform=platform)
    _land(lake, FIRST + timedelta(days=MOST), of=of, platform=platform)
    _land(lake, FIRST + timedelta(days=MOST + KEPT[platform]), of=of, platform=platform)


def _rows(lake: Lake) -> list[tuple[object, ...]]:
    found = f"select _batch, _seq, _line, ad_id, date from read_parquet(?, {AS_THEY_ARE}) order by all"
    return duckdb.execute(found, [f"{lake.raw}/ad_delivery/**/*.parquet"]).fetchall()


def _told(lake: Lake) -> list[tuple[object, ...]]:
    return sorted({(day, ad) for *_, ad, day in _rows(lake)}, key=str)


@pytest.mark.parametrize("platform", ["meta", "google"])
def test_days_of_one_connection_that_its_platform_revises_no_more_become_one_file(lake: Lake, platform: str) -> None:
    _days(lake, platform)
    for count in range(MOST):
        _land(lake, FIRST + timedelta(days=count), of=OTHER, platform=platform)
    before, files = _rows(lake), len(lake.batches("ad_delivery"))
    (whole,) = gather(lake.root)
    assert _rows(lake) == before
    assert whole.name.startswith(f"gathered.{ONE}.")
    assert len(lake.batches("ad_delivery")) == files - MOST + 1
    assert held(whole.parent) == {name for name, *_ in before}
    assert gather(lake.root) == []


def test_the_next_days_are_put_beside_those_of_before(lake: Lake) -> None:
    _days(lake)
    gather(lake.root)
    for count in range(MOST):
        _land(lake, FIRST + timedelta(days=MOST + KEPT["meta"] + 1 + count))
        _land(lake, FIRST + timedelta(days=MOST + 1 + count))
    before = _rows(lake)
    (whole,) = gather(lake.root)
    assert _rows(lake) == before
    assert [path.name for path in whole.parent.glob("gathered.*")] == [whole.name]


def test_a_day_that_is_landed_anew_replaces_its_own_and_no_other(lake: Lake) -> None:
    _days(lake)
    (whole,) = gather(lake.root)
    before = _told(lake)
    _land(lake, FIRST, ("a",))
    assert _told(lake) == [one for one in before if one != (FIRST, "b")]
    assert held(whole.parent) == {f"{ONE}-{day}" for day, _ in before}
    assert len(_rows(lake)) == len(before) - 1


def test_a_kill_between_the_two_files_is_mended_by_the_next_landing(lake: Lake, tmp_path: Path) -> None:
    _days(lake)
    (whole,) = gather(lake.root)
    before = _rows(lake)
    shutil.copy(whole, tmp_path)
    gathered.take_out(whole.with_name(f"{ONE}-{FIRST}.parquet"))
    assert _rows(lake) == before
    shutil.copy(tmp_path / whole.name, whole)
    _land(lake, FIRST, ("a",))
    assert len(_rows(lake)) == len(before) - 1


def test_a_landing_that_fails_leaves_the_day_as_it_was(lake: Lake) -> None:
    _days(lake)
    gather(lake.root)
    before = _rows(lake)
    with pytest.raises(ZeroDivisionError):
        _land(lake, FIRST, (str(1 // number) for number in (1, 0)))
    assert _rows(lake) == before
