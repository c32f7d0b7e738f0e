"""The importer: each file once, whole or not at all, and told what became of it."""

from __future__ import annotations

import gzip
import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
import time_machine

from api.db import now, transaction
from api.models import Import, Profile, Workspace
from orchestration import importer
from orchestration.importer import CannotImportError, import_file, lost_imports, replay_quarantine
from orchestration.lake import Lake, Landing
from orchestration.landed_facts import META_KEY, read_facts
from tests.orchestration.test_readers import HEADER, ROW, written

PROFILE = "01900000-0000-7000-8000-00000000000a"
PUBLIC = Path(__file__).resolve().parents[1] / "data" / "public_paths"


@pytest.fixture
def lake(home: Path) -> Lake:
    made = Lake(home / "lake")
    made.prepare()
    return made


def with_profile(url: str) -> str:
    with transaction(url) as session:
        session.add(Workspace(id="w", name="Workspace"))
        session.flush()
        session.add(Profile(id=PROFILE, workspace_id="w", name="Shop", timezone="UTC", reporting_currency="USD"))
    return url


@pytest.fixture
def url(sqlite_url: str) -> str:
    return with_profile(sqlite_url)


def imported(url: str, lake: Lake, path: Path, dataset: str = "touches", profile_id: str | None = PROFILE) -> Import:
    return import_file(url, lake, dataset=dataset, path=path, profile_id=profile_id)


def test_a_file_is_imported_once_and_its_counts_are_kept(database_url: str, lake: Lake, tmp_path: Path) -> None:
    with_profile(database_url)
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n{ROW.replace('t1', 't2')}\n{ROW.replace('web', 'tv')}\n")
    first = imported(database_url, lake, path)
    assert (first.status, first.rows_in, first.rows_loaded, first.rows_quarantined) == ("loaded", 3, 2, 1)
    again = imported(database_url, lake, written(tmp_path, "other name.csv", path.read_bytes()))
    assert (again.id, again.file_name) == (first.id, "t.csv")
    assert len(lake.batches("touches")) == 1
    with transaction(database_url) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Import)) == 1


def test_a_broken_file_is_rejected_and_nothing_of_it_lands(url: str, lake: Lake, tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv.gz", gzip.compress(f"{HEADER}\n{ROW}\n".encode())[:-9])
    rejected = imported(url, lake, path)
    assert (rejected.status, rejected.rows_in) == ("rejected", 0)
    assert rejected.reason == "t.csv.gz: the gzip data is cut short or damaged"
    assert lake.batches("touches") == []
    assert imported(url, lake, path).id == rejected.id


def test_a_rejected_file_is_tried_again(url: str, lake: Lake, tmp_path: Path) -> None:
    path = written(tmp_path, "t.dat", f"{HEADER}\n{ROW}\n")
    rejected = imported(url, lake, path)
    loaded = imported(url, lake, path.rename(tmp_path / "t.csv"))
    assert (rejected.status, loaded.status, loaded.reason) == ("rejected", "loaded", None)
    assert loaded.id == rejected.id


def test_a_file_that_changes_while_it_is_read_is_rejected(
    url: str, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n")
    read = importer.read_records

    def slow(*args: object) -> object:
        yield from read(*args)  # type: ignore[arg-type]
        path.write_text(f"{HEADER}\n{ROW}\n{ROW.replace('t1', 't2')}\n")

    monkeypatch.setattr(importer, "read_records", slow)
    rejected = imported(url, lake, path)
    assert (rejected.status, rejected.reason) == ("rejected", "t.csv: the file changed while it was read")
    assert lake.batches("touches") == []


def test_a_crash_after_landing_is_made_good(
    url: str, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n")
    with monkeypatch.context() as patch:
        patch.setattr(importer, "_record", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            imported(url, lake, path)
    (landed,) = lake.batches("touches")
    assert imported(url, lake, path).rows_loaded == 1
    assert [batch.seq for batch in lake.batches("touches")] == [landed.seq]


def test_a_replay_keeps_the_counts_of_the_import_right(url: str, lake: Lake, tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n{ROW.replace('t1', 't2').replace('2026', '2999')}\n")
    before = imported(url, lake, path)
    assert (before.rows_loaded, before.rows_quarantined) == (1, 1)
    with time_machine.travel("2999-12-01T00:00:00Z"):
        (replayed,) = replay_quarantine(url, lake)
    after = imported(url, lake, path)
    assert (after.id, after.rows_loaded, after.rows_quarantined) == (before.id, 2, 0)
    assert replayed.rows_loaded == 2


def test_a_replay_counts_what_one_before_had_replayed_when_it_was_killed(url: str, lake: Lake, tmp_path: Path) -> None:
    # nothing of it is in quarantine any more, so no later replay came to that import: it told of bad rows for ever
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n{ROW.replace('t1', 't2').replace('2026', '2999')}\n")
    assert imported(url, lake, path).rows_quarantined == 1
    with time_machine.travel("2999-12-01T00:00:00Z"):
        assert len(lake.replay()) == 1
        assert replay_quarantine(url, lake) == []
    after = imported(url, lake, path)
    assert (after.rows_loaded, after.rows_quarantined, after.errors) == (2, 0, [])


def test_what_cannot_be_imported_is_said(url: str, lake: Lake, tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n")
    with pytest.raises(CannotImportError, match="there is no data set 'touch'; did you mean 'touches'"):
        imported(url, lake, path, dataset="touch")
    with pytest.raises(CannotImportError, match="there is no profile unknown"):
        imported(url, lake, path, profile_id="unknown")
    with pytest.raises(CannotImportError, match="fx_rates belongs to no profile"):
        imported(url, lake, path, dataset="fx_rates")
    with pytest.raises(CannotImportError, match="touches belongs to a profile"):
        imported(url, lake, path, profile_id=None)
    assert lake.batches("touches") == []


def test_rates_of_the_deployment_are_shared(url: str, lake: Lake, tmp_path: Path) -> None:
    path = written(tmp_path, "fx.csv", "rate_date,base,quote,rate\n2026-11-01,EUR,USD,1.08\n")
    assert imported(url, lake, path, dataset="fx_rates", profile_id=None).rows_loaded == 1
    assert lake.batches("fx_rates")[0].path.parts[-3] == "_shared"


# tests/data/public_paths: see its README for the source
def test_public_paths_import_without_a_bad_row_and_fast(url: str, lake: Lake) -> None:
    started = time.process_time()
    counts = {
        path.name.split(".")[0]: imported(url, lake, path, dataset=path.name.split(".")[0])
        for path in sorted(PUBLIC.glob("*.csv*"))
    }
    assert {name: (one.rows_in, one.rows_quarantined) for name, one in counts.items()} == {
        "ad_accounts": (1, 0),
        "campaigns": (12, 0),
        "conversions": (19_785, 0),
        "touches": (86_322, 0),
    }
    assert time.process_time() - started < 10


def test_a_file_that_an_older_contract_let_in_is_judged_anew_at_its_place(url: str, lake: Lake, tmp_path: Path) -> None:
    # the runbook says so of rows that break their contract, and nothing happened: no build ever ended again
    bad = ROW.replace("t1", "t2").replace("web", "tv")
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n{bad}\n")
    imported(url, lake, path)
    imported(url, lake, written(tmp_path, "later.csv", f"{HEADER}\n{ROW.replace('p1', 'p9')}\n"))
    first, later = lake.batches("touches")
    _let_in_by_an_older_contract(first)
    assert [batch.rows_loaded for batch in lake.batches("touches")] == [2, 1]
    again = imported(url, lake, path)
    assert (again.rows_in, again.rows_loaded, again.rows_quarantined) == (2, 1, 1)
    judged, _ = lake.batches("touches")
    assert (judged.path, judged.rows_loaded, judged.rows_quarantined) == (first.path, 1, 1)
    # what a later file said of the same row still stands
    assert judged.seq == first.seq < later.seq
    assert pq.read_table(judged.path)["_seq"].to_pylist() == [first.seq]
    landed_at = judged.path.stat().st_mtime_ns
    assert imported(url, lake, path).rows_loaded == 1 and judged.path.stat().st_mtime_ns == landed_at


def test_a_file_whose_rows_the_lake_has_lost_is_told_and_loaded_again(url: str, lake: Lake, tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", f"{HEADER}\n{ROW}\n")
    first = imported(url, lake, path)
    (landed,) = lake.batches("touches")
    assert lost_imports(url, lake) == []
    landed.path.unlink()
    assert [one.file_name for one in lost_imports(url, lake)] == ["t.csv"]
    # it was called loaded, with its rows counted, and no row of it was anywhere
    again = imported(url, lake, path)
    assert (again.id, again.status, again.rows_loaded) == (first.id, "loaded", 1)
    assert [batch.rows_loaded for batch in lake.batches("touches")] == [1]
    assert lost_imports(url, lake) == []
    with transaction(url) as session:
        session.get_one(Profile, PROFILE).archived_at = now()
    lake.batches("touches")[0].path.unlink()
    assert lost_imports(url, lake) == [], "an archived profile leaves the lake"


def _let_in_by_an_older_contract(landing: Landing) -> None:
    """Leave the file as a version did that refused no row."""
    facts = replace(
        read_facts(landing.path), contract="older", rows_loaded=landing.rows_in, rows_quarantined=0, quarantine=None
    )
    rows = pq.read_table(landing.path)
    both = pa.concat_tables([rows] * landing.rows_in)
    pq.write_table(both.replace_schema_metadata({META_KEY: json.dumps(asdict(facts))}), landing.path)
