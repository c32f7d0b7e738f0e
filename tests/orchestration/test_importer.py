"""The importer: each file once, whole or not at all, and told what became of it."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
import time_machine

from api.db import transaction
from api.models import Import, Profile, Workspace
from orchestration import importer
from orchestration.importer import CannotImportError, import_file, replay_quarantine
from orchestration.lake import Lake
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
