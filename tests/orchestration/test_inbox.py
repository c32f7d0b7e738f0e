"""The inbox: what is new is imported, what was seen is not, and nothing is moved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from api.db import transaction
from api.models import Import
from orchestration.importer import _digest, digest_of
from orchestration.inbox import Dropped, NotLoaded, dropped, new_files, not_loaded, scan_inbox, waiting_files
from orchestration.lake import Lake
from orchestration.readers import READERS
from tests.orchestration.test_importer import PROFILE, with_profile
from tests.orchestration.test_readers import HEADER, ROW
from touchledger.settings import Settings


@pytest.fixture
def lake(settings: Settings) -> Lake:
    with_profile(settings.operational_url)
    made = Lake(settings.lake)
    made.prepare()
    return made


def drop(settings: Settings, name: str, content: str, scope: str = PROFILE, dataset: str = "touches") -> Path:
    path = settings.inbox / scope / dataset / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_of_equal_files_the_first_is_new_and_known_ones_are_not() -> None:
    files = [Dropped("p", "touches", digest, Path(name)) for digest, name in [("1", "a"), ("1", "b"), ("2", "c")]]
    files.append(Dropped("p", "people", "2", Path("d")))
    assert new_files(files, {("p", "touches", "2"): False}) == [files[0], files[3]]


def test_of_equal_files_the_one_that_can_be_read_by_its_name_is_new() -> None:
    files = [Dropped("p", "touches", "1", Path(name)) for name in ("a.txt", "b.csv")]
    assert new_files(files, {}) == new_files(files, {("p", "touches", "1"): True}) == [files[1]]
    assert new_files(files[:1], {("p", "touches", "1"): True}) == []


def test_hidden_and_half_copied_files_are_not_seen(settings: Settings) -> None:
    for name in (".t.csv", "t.csv.part", "t.csv.tmp", "t.csv~"):
        drop(settings, name, "x")
    assert dropped(settings.inbox) == []


def test_what_a_killed_upload_left_goes_once_nobody_writes_it_any_more(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it lay there for ever, seen by nobody, also where it named somebody who was erased within the hour
    left, copied = (drop(settings, name, "x") for name in (".0123456789abcdef.part", ".people.csv.part"))
    scan_inbox(settings, lake)
    assert left.exists()
    monkeypatch.setattr("orchestration.erased_files.BEING_COPIED_SECONDS", 0)
    scan_inbox(settings, lake)
    assert (left.exists(), copied.exists()) == (False, True)


def test_as_many_digests_are_remembered_as_an_inbox_of_years_has_files() -> None:
    # every minute all of them were read again: two files an hour had been more than were remembered within seven months
    assert _digest.cache_parameters()["maxsize"] >= 10 * 2 * 24 * 365


def test_dropped_files_are_imported_once_and_stay(settings: Settings, lake: Lake) -> None:
    good = drop(settings, "good.csv", f"{HEADER}\n{ROW}\n")
    drop(settings, "bad.csv", "nonsense\n")
    rates = drop(settings, "fx.csv", "rate_date,base,quote,rate\n2026-11-01,EUR,USD,1.08\n", "_shared", "fx_rates")
    assert len(waiting_files(settings)) == 3
    first = scan_inbox(settings, lake)
    assert {(one.file_name, one.status) for one in first} == {
        ("good.csv", "loaded"),
        ("bad.csv", "rejected"),
        ("fx.csv", "loaded"),
    }
    assert waiting_files(settings) == []
    assert scan_inbox(settings, lake) == []
    assert good.exists()
    assert rates.exists()


def test_a_file_in_a_folder_of_nobody_is_left_alone(settings: Settings, lake: Lake) -> None:
    drop(settings, "a.csv", f"{HEADER}\n{ROW}\n", scope="nobody")
    drop(settings, "b.csv", f"{HEADER}\n{ROW}\n", dataset="touch")
    drop(settings, "c.csv", f"{HEADER}\n{ROW}\n", scope="_shared")
    assert scan_inbox(settings, lake) == []
    assert lake.batches("touches") == []


def test_what_is_not_loaded_is_told_with_its_reason(settings: Settings, lake: Lake) -> None:
    drop(settings, "good.csv", f"{HEADER}\n{ROW}\n")
    drop(settings, "bad.csv", "nonsense\n")
    scan_inbox(settings, lake)
    drop(settings, ".hidden.csv", "x")
    drop(settings, "copy of good.csv", f"{HEADER}\n{ROW}\n")
    drop(settings, "new.csv", f"{HEADER}\n{ROW.replace('t1', 't2')}\n")
    drop(settings, "x.csv", "x", dataset="touchs")
    drop(settings, "x.csv", "x", scope="Shop")
    drop(settings, "x.csv", "x", scope="_shared")
    drop(settings, "x.csv", "x", dataset="touches/march")
    (settings.inbox / PROFILE / "touches" / "y.csv").symlink_to("/proc/self/mem")
    for folder in (settings.inbox, settings.inbox / PROFILE):
        (folder / "x.csv").write_text("x")
    nowhere = "lies in no folder <profile id or _shared>/<data set>"
    assert {one.file.removeprefix(f"{PROFILE}/"): one.reason for one in not_loaded(settings)} == {
        "touches/bad.csv": "unknown column 'nonsense' (columns named x_... are kept and not used); no column of touches"
        " is there, which needs touch_key, occurred_at, channel, origin",
        "touches/new.csv": "waits for the next build",
        "touches/march": "is a folder, in which no file is looked at",
        "touches/y.csv": "cannot be read",
        "touchs/x.csv": "there is no data set 'touchs'; did you mean 'touches'?",
        "Shop/touches/x.csv": "there is no profile Shop; `touchledger profile list` tells which there are",
        "_shared/touches/x.csv": "touches belongs to a profile",
        "x.csv": nowhere,
    }
    assert [one.reason for one in not_loaded(settings)].count(nowhere) == 2


@pytest.mark.parametrize("closed", [".", PROFILE, f"{PROFILE}/touches"])
def test_a_folder_that_cannot_be_opened_is_told(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    path = drop(settings, "good.csv", f"{HEADER}\n{ROW}\n")
    path.unlink()
    assert not_loaded(settings) == []
    # who runs the tests may be one for whom nothing is closed
    monkeypatch.setattr(os, "access", lambda asked, _: asked != settings.inbox / closed)
    told = NotLoaded(closed, "is a folder that cannot be opened; no file in it is loaded")
    assert not_loaded(settings) == [told]


def test_a_file_refused_for_its_name_waits_once_it_has_another(settings: Settings, lake: Lake) -> None:
    named = drop(settings, "good.txt", f"{HEADER}\n{ROW}\n")
    scan_inbox(settings, lake)
    assert ["not a .csv" in one.reason for one in not_loaded(settings)] == [True]
    named.rename(named.with_suffix(".csv"))
    assert [one.reason for one in not_loaded(settings)] == ["waits for the next build"]
    scan_inbox(settings, lake)
    assert not_loaded(settings) == []


def test_an_absent_inbox_is_an_empty_one(settings: Settings, lake: Lake) -> None:
    assert scan_inbox(settings, lake) == []
    assert not_loaded(settings) == []


def test_a_name_that_is_no_text_is_imported_with_the_others(settings: Settings, lake: Lake) -> None:
    good = drop(settings, "good.csv", f"{HEADER}\n{ROW}\n")
    for name, content in ((b"Ums\xe4tze.csv", f"{HEADER}\n{ROW.replace('t1', 't2')}\n"), (b"b\xe4d.csv", "nonsense\n")):
        good.with_name(os.fsdecode(name)).write_text(content)
    drop(settings, "lost.csv", f"{HEADER}\n{ROW}\n", scope=os.fsdecode(b"n\xe4mand"))
    assert [(one.file_name, one.status) for one in scan_inbox(settings, lake)] == [
        ("Ums\ufffdtze.csv", "loaded"),
        ("b\ufffdd.csv", "rejected"),
        ("good.csv", "loaded"),
    ]
    assert [file.scope for file in waiting_files(settings)] == ["n\ufffdmand"]


def test_a_file_that_cannot_be_read_keeps_no_other_from_being_imported(settings: Settings, lake: Lake) -> None:
    good = drop(settings, "good.csv", f"{HEADER}\n{ROW}\n")
    # a file whose first byte nobody can read, not even root
    good.with_name("a.csv").symlink_to("/proc/self/mem")
    assert [one.file_name for one in scan_inbox(settings, lake)] == ["good.csv"]


def test_a_file_that_breaks_its_reader_is_rejected_and_the_others_are_imported(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(settings, "a.jsonl", "{}\n")
    drop(settings, "b.csv", f"{HEADER}\n{ROW}\n")
    monkeypatch.setitem(READERS, ".jsonl", lambda *_: iter({}.popitem()))
    found = [(one.file_name, one.status, one.reason) for one in scan_inbox(settings, lake)]
    assert found == [("a.jsonl", "rejected", "a.jsonl: could not be read"), ("b.csv", "loaded", None)]
    assert waiting_files(settings) == []


def test_a_file_refused_for_its_name_is_imported_once_it_has_another(settings: Settings, lake: Lake) -> None:
    wrong = drop(settings, "touches.txt", f"{HEADER}\n{ROW}\n")
    empty = drop(settings, "empty.txt", "nonsense\n")
    assert [one.status for one in scan_inbox(settings, lake)] == ["rejected", "rejected"]
    assert scan_inbox(settings, lake) == []
    wrong.rename(wrong.with_suffix(".csv"))
    empty.rename(empty.with_suffix(".csv"))
    found = [(one.file_name, one.status, one.rows_loaded) for one in scan_inbox(settings, lake)]
    assert found == [("empty.csv", "rejected", 0), ("touches.csv", "loaded", 1)]
    # what the name hid was wrong too: that is told, and not tried for ever
    assert scan_inbox(settings, lake) == []


def test_an_uploaded_file_that_was_rejected_keeps_its_name_and_is_not_tried_again(
    settings: Settings, lake: Lake
) -> None:
    stored = drop(settings, "stored.csv", "nonsense\n")
    upload = Import(
        profile_id=PROFILE,
        scope=PROFILE,
        dataset="touches",
        file_name="mine.csv",
        sha256=digest_of(stored),
        status="queued",
    )
    with transaction(settings.operational_url) as session:
        session.add(upload)
    assert [(one.file_name, one.status) for one in scan_inbox(settings, lake)] == [("mine.csv", "rejected")]
    assert scan_inbox(settings, lake) == []
