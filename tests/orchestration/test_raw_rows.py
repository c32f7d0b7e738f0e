"""Frames of raw rows, as the checks of contracts judge them."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from data_contracts.contract import landed
from data_contracts.suite import check_frame
from orchestration import raw_rows
from orchestration.assets.raw_sets import PLOTS
from orchestration.lake import Lake
from orchestration.landed_facts import SCHEMA, DamagedRawFileError
from orchestration.raw_rows import RawRows
from touchledger.settings import Settings

CONTRACT = landed()["ad_delivery"]
DAY = {
    "platform": "meta", "ad_id": "1", "ad_set_id": "2", "campaign_id": "3", "ad_account_id": "4", "currency": "USD",
    "impressions": 10, "clicks": 1,
}  # fmt: skip


@pytest.fixture
def settings(home: Path) -> Settings:
    settings = Settings(home=home)
    lake = Lake(settings.lake)
    lake.prepare()
    days = [{**DAY, "date": f"2026-03-0{n}", "spend": f"{n}.25"} for n in range(1, 6)]
    days[1]["video_3s_views"] = 7
    lake.land(
        dataset="ad_delivery", profile_id="p", source="s", batch="b", records=days, now=datetime(2026, 6, 1, tzinfo=UTC)
    )
    return settings


def test_an_absent_number_leaves_the_column_whole_and_money_is_compared_as_numbers(settings: Settings) -> None:
    (frame,) = RawRows(settings, CONTRACT).frames(_files(settings))
    kinds = {name: str(frame[name].dtype) for name in ("date", "spend", "impressions", "video_3s_views", "ad_id")}
    assert kinds == {
        "date": "datetime64[ms]", "spend": "float64", "impressions": "Int64", "video_3s_views": "Int64", "ad_id": "str",
    }  # fmt: skip
    assert check_frame(CONTRACT, frame)[0]


def test_batches_of_one_name_count_for_each_profile_and_source(settings: Settings) -> None:
    """A file's batch is named by its bytes: the same file given to two profiles counted as one."""
    for profile, source in (("q", "s"), (None, "s"), ("p", "other")):
        Lake(settings.lake).land(
            dataset="ad_delivery", profile_id=profile, source=source, batch="b", now=datetime(2026, 6, 2, tzinfo=UTC),
            records=[{**DAY, "ad_id": "2", "date": "2026-03-01", "spend": "1"}],
        )  # fmt: skip
    assert RawRows(settings, CONTRACT).batches == 4


def test_a_folder_above_is_no_column_of_the_rows(settings: Settings, tmp_path: Path) -> None:
    home = tmp_path / "currency=EUR"
    shutil.copytree(settings.home, home)
    assert RawRows(Settings(home=home), CONTRACT).money()["spend"] == {"USD": Decimal("16.25")}


def test_nobody_reads_a_folder_above_for_a_column() -> None:
    reads = [
        (path.name, found[0].lower())
        for path in sorted(Path(raw_rows.__file__).parent.rglob("*.py"))
        for found in re.finditer(r"read_parquet\(.{,60}", path.read_text())
    ]
    guards = ("as_they_are", "hive_partitioning = false")
    assert len(reads) > 8 and [one for one in reads if not any(guard in one[1] for guard in guards)] == []


@pytest.mark.parametrize("whole_footer", [True, False])
def test_a_file_damaged_within_is_named_with_the_way_out(settings: Settings, whole_footer: bool) -> None:
    (path,) = _files(settings)
    content = path.read_bytes()
    footer = 8 + int.from_bytes(content[-8:-4], "little")
    path.write_bytes(b"PAR1" + bytes(len(content) - footer - 4) + (content[-footer:] if whole_footer else b""))
    # what is asked may be read off the footers alone
    with pytest.raises(DamagedRawFileError, match=f"^{path} is damaged; put it back from the backup"):
        RawRows(settings, CONTRACT).money()


def test_what_is_no_damage_is_told_as_it_is(settings: Settings) -> None:
    with pytest.raises(duckdb.BinderException):
        RawRows(settings, CONTRACT).by_day("no_such_column", "count(*)")


def test_touches_are_shown_by_their_day_in_utc(home: Path) -> None:
    lake = Lake(home / "lake")
    lake.prepare()
    times = ["2026-03-02T01:59:59.999999+02:00", "2026-03-01T23:00:00-01:00", "2026-03-02T12:00:00Z"]
    seen = [
        {"touch_key": f"t{n}", "occurred_at": at, "channel": "web", "origin": "web", "person_key": "p"}
        for n, at in enumerate(times)
    ]
    lake.land(
        dataset="touches", profile_id="p", source="s", batch="b", records=seen, now=datetime(2026, 6, 1, tzinfo=UTC)
    )
    _, day, count = PLOTS["touches"]
    found = RawRows(Settings(home=home), landed()["touches"]).by_day(day, count)
    assert found == [(date(2026, 3, 1), 1), (date(2026, 3, 2), 2)]


def test_rows_of_many_files_come_in_one_frame_until_it_is_full(settings: Settings) -> None:
    (file,) = _files(settings)
    rows = pq.read_table(file)
    for name, copies in (("1", 1), ("2", 20_000), ("3", 21_000), ("4", 1)):
        pq.write_table(rows.take(list(range(rows.num_rows)) * copies), file.with_name(f"{name}.parquet"))
    file.unlink()
    frames = list(RawRows(settings, CONTRACT).frames(_files(settings)))
    assert [len(frame) for frame in frames] == [100_005, 105_005]
    assert frames[0]["video_3s_views"].sum() == 7 * 20_001
    assert frames[1]["spend"].sum() == 21_001 * 16.25


def _files(settings: Settings) -> list[Path]:
    folder = settings.lake / "raw" / "ad_delivery"
    return sorted(path for path in folder.rglob("*.parquet") if path.name != SCHEMA)
