"""Small batches of what was sent are put together: rows and figures stay, and nothing lands twice or is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from api.erased import Person
from api.warehouse_ids import identifier_id
from orchestration import gathered, increment
from orchestration.collected import land_collected
from orchestration.erased_lake import rewrite_lake
from orchestration.gathered import gather, gather_unread, held
from orchestration.ingested import land_ingested
from orchestration.lake import Lake
from orchestration.landed_facts import SCHEMA
from orchestration.locks import only_writer
from tests.orchestration.followed_lake import AT, BUILD, told
from tests.orchestration.test_collected import kept
from tests.orchestration.test_importer import PROFILE, with_profile
from tests.orchestration.test_ingested import accepted
from touchledger import doctor_files
from touchledger.settings import Settings

MOST = 4


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "MOST_FILES", MOST)


@pytest.fixture
def lake(home: Path) -> Lake:
    made = Lake(home / "lake")
    made.prepare()
    return made


def _land(lake: Lake, *batches: str, profile_id: str = PROFILE, **more: Any) -> None:
    for batch in batches:
        rows = [
            {"touch_key": f"{batch}{number}", "occurred_at": AT, "person_key": batch, "channel": "web", "origin": "web"}
            for number in range(2)
        ]
        records = [{**row, **more} for row in rows]
        lake.land(dataset="touches", profile_id=profile_id, source="app", batch=batch, records=records)


def _rows(lake: Lake, dataset: str = "touches") -> list[tuple[Any, ...]]:
    found = "select * from read_parquet(?, union_by_name = true) order by _profile_id, _seq, _line"
    return duckdb.execute(found, [f"{lake.raw}/{dataset}/**/*.parquet"]).fetchall()


def _files(lake: Lake, dataset: str = "touches") -> Iterator[Path]:
    return (path for path in lake.raw.glob(f"{dataset}/*/*/*") if path.name != SCHEMA)


def test_many_small_batches_become_one_file_whose_rows_are_as_they_landed(lake: Lake) -> None:
    _land(lake, "a", "b", "c", "d")
    _land(lake, "e", profile_id="another")
    before, newest = _rows(lake), lake.batches("touches")[-2].seq
    (made,) = gather(lake.root)
    assert _rows(lake) == before
    (whole, alone) = lake.batches("touches")
    assert (whole.path, whole.rows_loaded, whole.seq, alone.batch) == (made, 8, newest, "e")
    assert sorted(path.parent.parent.name for path in _files(lake)) == sorted([PROFILE, "another"])
    assert gather(lake.root) == []


def test_files_that_models_read_stay_until_these_are_done(home: Path, lake: Lake) -> None:
    settings = Settings(home=home)
    _land(lake, "a", "b", "c", "d")
    with only_writer(home / "locks" / "dbt.lock", purpose="run dbt"):
        assert gather_unread(settings) == []
    assert len(gather_unread(settings)) == 1


def test_a_file_that_goes_while_files_are_looked_at_is_passed_over(lake: Lake) -> None:
    _land(lake, "a")
    (one,) = _files(lake)
    # listed, and not there when it is opened
    one.with_name("went.parquet").symlink_to("nowhere")
    assert [batch.batch for batch in lake.batches("touches")] == ["a"]
    # which may come back, with the disk that it leads to
    (found,) = doctor_files.lake(Settings(home=lake.root.parent))
    assert (found.verdict, "went.parquet is a link that leads nowhere" in found.found) == ("fail", True)


def test_fewer_stay_as_they_are_and_so_do_other_sources(lake: Lake) -> None:
    _land(lake, "a", "b", "c")
    for batch in ("one", "two", "three", "four"):
        lake.land(dataset="touches", profile_id=PROFILE, source="file", batch=batch, records=[])
    assert gather(lake.root) == []


def test_what_was_put_together_takes_the_next_ones_in_until_it_is_large(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    _land(lake, "a", "b", "c", "d")
    gather(lake.root)
    _land(lake, "e", "f", "g", "h")
    (second,) = gather(lake.root)
    assert [one.rows_loaded for one in lake.batches("touches")] == [16]
    monkeypatch.setattr(gathered, "ENOUGH_ROWS", 6)
    _land(lake, "i", "j", "k", "l")
    assert len(gather(lake.root)) == 1 and second.exists()
    assert [one.rows_loaded for one in lake.batches("touches")] == [16, 6, 2]


def test_a_batch_with_records_in_quarantine_stays(lake: Lake) -> None:
    _land(lake, "a", "b", "c", "d")
    _land(lake, "bad", channel="nowhere")
    gather(lake.root)
    assert [(one.rows_loaded, one.rows_quarantined) for one in lake.batches("touches")] == [(8, 0), (0, 2)]
    assert lake.replay() == []


def test_a_batch_of_a_column_that_the_contract_has_no_longer_stays_with_it(lake: Lake) -> None:
    _land(lake, "a", "b", "c", "d", "e", "f")
    for batch, name, values in (("a", "mood", ["kept", "too"]), ("b", "is_paid", ["yes", "no"])):
        (path,) = (path for path in _files(lake) if path.stem == batch)
        with pq.ParquetFile(path) as file:
            table = file.read()
        left = table.select([one for one in table.column_names if one != name])
        pq.write_table(left.append_column(name, [values]), path)
    (whole,) = gather(lake.root)
    assert held(whole.parent) == set("abcdef")
    assert sorted(path.stem for path in _files(lake) if path != whole) == ["a", "b"]
    assert pq.read_schema(whole.with_name("a.parquet")).names[-1] == "mood"


def test_accepted_records_that_were_put_together_do_not_land_again(database_url: str, lake: Lake) -> None:
    with_profile(database_url)
    for number in range(MOST):
        accepted(database_url, f"k{number}")
        land_ingested(database_url, lake)
    (whole,) = gather(lake.root)
    accepted(database_url, "later")
    assert [one.rows_loaded for one in land_ingested(database_url, lake)] == [1]
    assert len(_rows(lake)) == MOST + 1
    # as the runbook says of a damaged one without a backup
    whole.unlink()
    assert len(land_ingested(database_url, lake)) == MOST
    assert len(_rows(lake)) == MOST + 1


def test_collected_events_that_were_put_together_stay(sqlite_url: str, lake: Lake) -> None:
    with_profile(sqlite_url)
    for number in range(MOST):
        kept(sqlite_url, f"e{number}")
        land_collected(sqlite_url, lake)
    before = _rows(lake, "page_events")
    assert len(gather(lake.root)) == 1
    assert (land_collected(sqlite_url, lake), _rows(lake, "page_events")) == ([], before)


@pytest.mark.parametrize("is_whole", [True, False], ids=["before its parts went", "before the whole was there"])
def test_what_a_killed_process_left_is_ended_by_the_next_to_look(lake: Lake, tmp_path: Path, is_whole: bool) -> None:
    _land(lake, "a", "b", "c", "d")
    before, parts = _rows(lake), sorted(_files(lake))
    for path in parts:
        shutil.copy(path, tmp_path)
    (whole,) = gather(lake.root)
    for path in parts:
        shutil.copy(tmp_path / path.name, path)
    whole.with_name(f".{whole.stem}.parts").write_text(json.dumps([path.name for path in parts]))
    if not is_whole:
        whole.rename(whole.with_name(f".{whole.stem}.tmp"))
    lake.prepare()
    assert _rows(lake) == before
    assert sorted(_files(lake)) == ([whole] if is_whole else parts)


def test_an_erased_person_is_renamed_in_what_was_put_together(lake: Lake) -> None:
    _land(lake, "a", "b", "c", "d")
    (whole,) = gather(lake.root)
    names = frozenset({identifier_id(PROFILE, "person_key", "a")})
    values = {"person_key": ["a"]}
    assert rewrite_lake(lake, Person(PROFILE, b"secret", names, names), values)["touches"] == 2
    people = {row[0] for row in duckdb.execute("select person_key from read_parquet(?)", [str(whole)]).fetchall()}
    assert "a" not in people and {"b", "c", "d"} < people
    assert held(whole.parent) == {"a", "b", "c", "d"}


def test_a_build_follows_what_was_put_together_and_is_whole_once_that_is_gone(followed: Settings) -> None:
    lake = Lake(followed.lake)
    _land(lake, "a", "b", "c", "d", profile_id="p")
    _build(followed)
    (whole,) = gather(lake.root)
    arguments, base = increment.begin(followed, BUILD)
    assert arguments == BUILD and base is not None
    keys = [f"{batch}{number}" for batch in "abcd" for number in range(2)]
    assert told(followed, "select touch_key from changes.touches") == [(key,) for key in keys]
    increment.end(followed, base)
    whole.unlink()
    assert _build(followed) != BUILD
    assert _build(followed) == BUILD


def _build(settings: Settings) -> list[str]:
    arguments, base = increment.begin(settings, BUILD)
    assert base is not None
    increment.end(settings, base)
    return arguments
