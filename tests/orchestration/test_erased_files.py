"""Files of the inbox without an erased person: whatever lies there, nothing of the person stays and nothing fails."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from api.db import transaction
from api.erased import Person
from api.models import Import
from api.warehouse_ids import identifier_id
from data_contracts.contract import load
from orchestration.batch_file import Place
from orchestration.erased_files import rewrite_inbox
from orchestration.erased_lake import move_batch
from orchestration.importer import digest_of, import_file, lost_imports
from orchestration.inbox import scan_inbox, waiting_files
from orchestration.lake import Lake
from orchestration.readers import read_records
from tests.factories import forgotten
from tests.orchestration.test_importer import PROFILE
from tests.orchestration.test_inbox import lake
from touchledger.settings import Settings

__all__ = ["lake"]

ADA, SET = "ada@example.com", "conversions"


def ada() -> Person:
    known = frozenset([identifier_id(PROFILE, "email", ADA)])
    person = Person(profile_id=PROFILE, secret=b"s" * 32, ids=known, own=known)
    person.learn("email", ADA)
    return person


def drop(settings: Settings, name: str, content: bytes, dataset: str = "people") -> Path:
    path = settings.inbox / PROFILE / dataset / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def damaged(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=31)
    # no block of gzip data begins like this
    return packer.compress(content) + packer.flush(zlib.Z_FULL_FLUSH) + b"\xff" * 20


UNREADABLE = {
    "list.jsonl": b'[1, "%s"]\n',
    "null.jsonl": b'null\n"%s"\n',
    "number.jsonl": b"5\n%s\n",
    "deep.jsonl": b"[" * 100_000 + b"\n%s",
    "damaged.csv.gz": b"%s",
    "cut.csv.gz": b"%s",
    "no header.csv": b"bob,%s\n",
    "ragged.csv": b"person_key,email\np1,bob@example.com,%s\n",
    "named twice.csv": b"email,email\n%s,bob@example.com\n",
    "named after.jsonl": b'{"%s": "p1"}',
    "two bytes.csv": b"person_key,email\np1,%s\n",
    "named after.parquet": b"%s",
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("address", [ADA, "bob@example.com"])
def test_a_file_that_cannot_be_read_fails_no_erasure_and_goes_if_it_names_the_person(
    settings: Settings, lake: Lake, name: str, address: str
) -> None:
    content = UNREADABLE[name].replace(b"%s", address.encode())
    if name == "damaged.csv.gz":
        content = damaged(b"email\n" + content)
    elif name == "cut.csv.gz":
        content = gzip.compress(b"email\n" + content + b"\nbob@example.com")[:-6]
    elif name == "two bytes.csv":
        content = content.decode().encode("utf-16")
    elif name == "named after.parquet":
        pq.write_table(pa.table({"person_key": ["p1"], address: ["yes"]}), whole := io.BytesIO())
        content = whole.getvalue()
    path = drop(settings, name, content)
    assert [one.status for one in scan_inbox(settings, lake)] == ["rejected"]
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == (address == ADA)
    assert path.exists() == (address != ADA)


@pytest.mark.parametrize("name", ["cut.parquet", "book.xlsx", "book.csv"])
def test_a_file_that_cannot_be_read_and_does_not_tell_whom_it_names_goes(
    settings: Settings, lake: Lake, name: str
) -> None:
    content = io.BytesIO()
    if name == "cut.parquet":
        others = [f"x{number}@example.com" for number in range(50)]
        pq.write_table(pa.table({"email": [*others, ADA, ADA]}), content, compression="zstd", write_statistics=False)
        content.truncate(len(content.getvalue()) - 4)
    else:
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as book:
            book.writestr("sheet.xml", ADA * 100)
    assert ADA.encode() not in content.getvalue()
    path = drop(settings, name, content.getvalue())
    assert [one.status for one in scan_inbox(settings, lake)] == ["rejected"]
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    assert not path.exists()


def test_of_files_that_are_equal_without_the_person_one_stays_with_its_import(settings: Settings, lake: Lake) -> None:
    head = "conversion_key,occurred_at,conversion_type,email\nk1,2026-11-01T10:00:00Z,lead_created,"
    kept, other = (
        drop(settings, name, f"{head}{address}\n".encode(), "conversions")
        for name, address in (("a.csv", ADA), ("b.csv", ADA.title()))
    )
    first, _ = scan_inbox(settings, lake)
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 2
    assert (kept.exists(), other.exists()) == (True, False)
    with transaction(settings.operational_url) as session:
        found = [(one.id, one.sha256) for one in session.scalars(sa.select(Import))]
    assert found == [(first.id, digest_of(kept))]
    assert waiting_files(settings) == []


LOADED = {
    # longer than what csv takes unless it is told otherwise
    "blank.csv": f"person_key,email\np1,{ADA}\n,,,\n , ,\n\np2,bob@example.com\n",
    "number.jsonl": f'{{"person_key": "p1", "email": "{ADA}"}}\n{{"person_key": "p2", "x_n": {"9" * 5000}}}\n',
    "long.csv": f"person_key,email,x_note\np1,{ADA},{'n' * 200_000}\n\np2,bob@example.com,\n",
    "lines.jsonl": f'{{"person_key": "p1", "email": "{ADA}", "x_note": "a\u2028b\u0085c"}}\n{{"person_key": "p2"}}\n',
}


@pytest.mark.parametrize("name", LOADED)
def test_a_loaded_file_stays_the_import_it_was_and_keeps_the_others(settings: Settings, lake: Lake, name: str) -> None:
    path = drop(settings, name, LOADED[name].encode())
    (loaded,) = scan_inbox(settings, lake)
    assert (loaded.status, loaded.rows_in) == ("loaded", 2)
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    assert ADA.encode() not in path.read_bytes()
    assert len([*read_records(load("people"), path)]) == 2
    assert b"p2" in path.read_bytes()
    assert waiting_files(settings) == []


def test_what_was_landed_of_a_file_is_found_by_its_new_digest_and_stands_where_it_stood(
    settings: Settings, lake: Lake
) -> None:
    """Else the doctor tells that its rows are gone, and who imports it again overrules what later files corrected."""
    url = settings.operational_url
    head = "conversion_key,occurred_at,conversion_type,email\n"
    first = drop(settings, "a.csv", f"{head}k1,2026-11-01T10:00:00Z,lead_created,{ADA}\nk2,never,x,\n".encode(), SET)
    scan_inbox(settings, lake)
    drop(settings, "b.csv", f"{head}k1,2026-11-02T10:00:00Z,lead_created,\n".encode(), SET)
    scan_inbox(settings, lake)
    before = {one.seq: (one.rows_loaded, one.rows_quarantined) for one in lake.batches(SET)}
    assert rewrite_inbox(url, lake, settings.inbox, ada()) == 1
    assert lost_imports(url, lake) == []
    moved, other = lake.batches(SET)
    assert {one.seq: (one.rows_loaded, one.rows_quarantined) for one in (moved, other)} == before
    assert moved.batch == digest_of(first) and moved.quarantine and moved.quarantine.exists()
    assert set(pq.read_table(moved.path)["_batch"].to_pylist()) == {moved.batch}
    import_file(url, lake, dataset=SET, path=first, profile_id=PROFILE)
    assert [one.seq for one in lake.batches(SET)] == [moved.seq, other.seq]
    # nothing is left under the old name, and nobody takes the quarantine for nobody's
    lake.prepare()
    assert len([*lake.quarantine.glob(f"{SET}/*/*/*")]) == 1 and len([*lake.raw.glob(f"{SET}/*/*/*")]) == 2
    # as a crash leaves it that came before the old file was removed
    old = Place(SET, PROFILE, moved.source, "old")
    (lake.raw / old.file).write_bytes(moved.path.read_bytes())
    move_batch(lake, old, moved.batch)
    assert [one.batch for one in lake.batches(SET)] == [moved.batch, other.batch]


def test_a_file_of_the_longest_name_there_is_is_rewritten(settings: Settings, lake: Lake) -> None:
    # its name is longer with what stood around it while it was written: no erasure ended, and no build published
    path = drop(settings, f"{'n' * 251}.csv", f"person_key,email\np,{ADA}\n".encode())
    assert [one.status for one in scan_inbox(settings, lake)] == ["loaded"]
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    assert ADA not in path.read_text()
    assert lost_imports(settings.operational_url, lake) == []


def test_a_rejected_file_with_a_key_twice_loses_the_value_that_nobody_reads(settings: Settings, lake: Lake) -> None:
    line = f'{{"person_key": "{ADA}", "person_key": "p1"}}\n{{"person_key": "p2"}}\n'
    path = drop(settings, "twice.jsonl", line.encode())
    assert [one.status for one in scan_inbox(settings, lake)] == ["rejected"]
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    assert ADA.encode() not in path.read_bytes()
    assert b"p2" in path.read_bytes()
    assert waiting_files(settings) == []


FOREIGN = {
    "semicolons.csv": f"email;first_name\n{ADA};Augusta\nbob@example.com;Robert\n",
    "own names.csv": f"E-Mail,Vorname\n{ADA},Augusta\nbob@example.com,Robert\n",
    "no header.csv": f"bob@example.com,Robert\n{ADA},Augusta\n",
    "own names.jsonl": f'{{"mail": "{ADA}", "name": "Augusta"}}\n{{"mail": "bob@example.com", "name": "Robert"}}\n',
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_rejected_file_whose_columns_nobody_knows_loses_all_that_stands_beside_the_address(
    settings: Settings, lake: Lake, name: str
) -> None:
    path = drop(settings, name, FOREIGN[name].encode())
    assert [one.status for one in scan_inbox(settings, lake)] == ["rejected"]
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    left = path.read_text()
    assert [word for word in (ADA, "Augusta") if word in left] == []
    assert "Robert" in left
    assert waiting_files(settings) == []


@pytest.mark.parametrize("place", ["stray.csv", "people/2026/more.csv", "no such set/more.csv"])
def test_a_file_that_lies_where_none_is_read_is_rewritten_like_the_others(
    settings: Settings, lake: Lake, place: str
) -> None:
    path = settings.inbox / PROFILE / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"email,name\n{ADA},Augusta\nbob@example.com,Robert\n")
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    left = path.read_text()
    assert [word for word in (ADA, "Augusta") if word in left] == []
    assert "Robert" in left


@pytest.mark.parametrize("name", [".0123456789abcdef.part", ".people.csv.Xy12Zq"])
def test_what_a_broken_copy_left_goes_too_and_what_is_being_copied_stays(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = drop(settings, name, f"person_key,email\np1,{ADA}\n".encode())
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 0
    assert path.exists()
    monkeypatch.setattr("orchestration.erased_files.BEING_COPIED_SECONDS", 0)
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    assert not path.exists()


NOTE = "n" * 2**20
LARGE = {
    "rewritten.csv.gz": (f"email,x_note\n{ADA},\n", f"bob@example.com,{NOTE}\n"),
    "rewritten.jsonl.gz": (f'{{"email": "{ADA}"}}\n', f'{{"email": "bob@example.com", "x_note": "{NOTE}"}}\n'),
    "ragged.csv.gz": ("email\n", f"bob@example.com,{NOTE}\n"),
    "cut.csv.gz": ("x_note\n", f"{NOTE}\n"),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_packed_file_is_looked_through_in_little_memory_however_much_it_holds(
    settings: Settings, lake: Lake, name: str
) -> None:
    head, line = LARGE[name]
    content = gzip.compress(head.encode() + line.encode() * 40)
    path = drop(settings, name, content[:-6] if name == "cut.csv.gz" else content)
    tracemalloc.start()
    try:
        changed = rewrite_inbox(settings.operational_url, lake, settings.inbox, ada())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert changed == (ADA in head)
    assert most < 40_000_000
    if changed:
        left = gzip.decompress(path.read_bytes())
        assert ADA.encode() not in left and left.count(b"bob@example.com") == 40


def test_a_person_is_found_where_pieces_of_a_large_file_meet(
    settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestration.told_bytes.PIECE", 5)
    spelt = ADA.replace("@", "%2540").encode()
    for name, content in {"a.txt": spelt, "b.txt": ADA.encode("utf-16-le"), "c.gz": damaged(spelt * 9)}.items():
        path = drop(settings, name, b"somebody: " + content if name != "c.gz" else content)
        assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
        assert not path.exists()
    path = drop(settings, "d.txt", b"ada@exam, example.com")
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 0
    assert path.exists()


def test_a_file_that_the_disk_does_not_let_be_written_anew_stays(settings: Settings, lake: Lake) -> None:
    path = drop(settings, "people.csv", f"person_key,email\np1,{ADA}\n".encode())
    forgotten.unfinished(path).mkdir()
    with pytest.raises(IsADirectoryError):
        rewrite_inbox(settings.operational_url, lake, settings.inbox, ada())
    assert path.exists()
