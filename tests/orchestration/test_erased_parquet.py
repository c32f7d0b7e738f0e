"""Parquet files of the inbox without an erased person: rows and columns of all others stay as they were."""

from __future__ import annotations

import io
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from orchestration.erased_files import rewrite_inbox
from orchestration.importer import lost_imports
from orchestration.inbox import scan_inbox, waiting_files
from orchestration.lake import Lake
from tests.orchestration.test_erased_files import ADA, ada, drop
from tests.orchestration.test_inbox import lake
from touchledger.settings import Settings

__all__ = ["lake"]

SCHEMA = pa.schema(
    [
        pa.field("person_key", pa.string(), nullable=False),
        pa.field("email", pa.dictionary(pa.int32(), pa.string())),
        pa.field("first_name", pa.string(), nullable=False),
        pa.field("x_points", pa.decimal128(18, 4), nullable=False),
    ]
)
BOB = {"person_key": "p2", "email": "bob@example.com", "first_name": "Robert", "x_points": Decimal("2.5000")}


def packed(*rows: dict[str, object]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=SCHEMA), file)
    return file.getvalue()


def test_a_file_stays_though_what_is_taken_out_of_it_must_stand_in_each_row(settings: Settings, lake: Lake) -> None:
    # it was taken for one that nobody can read, and removed with all that it said of others
    hers = {"person_key": "p1", "email": ADA, "first_name": "Augusta", "x_points": Decimal(1)}
    path = drop(settings, "people.parquet", packed(hers, BOB))
    (loaded,) = scan_inbox(settings, lake)
    assert (loaded.status, loaded.rows_in) == ("loaded", 2)
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    left = pq.read_table(path)
    assert left.to_pylist() == [
        {"person_key": "p1", "email": ada().name("email", ADA), "first_name": None, "x_points": None}, BOB,
    ]  # fmt: skip
    assert [*map(str, left.schema.types)] == [*map(str, SCHEMA.types)]
    assert waiting_files(settings) == [] and lost_imports(settings.operational_url, lake) == []


def test_a_file_without_the_person_is_not_written_anew(settings: Settings, lake: Lake) -> None:
    path = drop(settings, "people.parquet", packed(BOB))
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 0
    assert path.read_bytes() == packed(BOB)
    assert [*path.parent.iterdir()] == [path]


def test_a_file_stays_with_what_no_instant_of_ours_holds(settings: Settings, lake: Lake) -> None:
    # its rows were loaded, those that cannot be held into quarantine, and then it was taken for unreadable
    far = pa.array([2**40, 1_770_000_000, 2**40], pa.timestamp("s", "UTC"))
    people = pa.table(
        {
            "person_key": ["p1", "p2", "p3"], "email": [ADA, "bob@example.com", "cyd@example.com"], "updated_at": far,
            "x_parts": pa.array([[ADA], ["b"], []]), "x_at": pa.array([1, 1002, 3], pa.time64("ns")),
        }
    )  # fmt: skip
    file = io.BytesIO()
    pq.write_table(people, file)
    path = drop(settings, "people.parquet", file.getvalue())
    before = pq.read_table(path)
    (loaded,) = scan_inbox(settings, lake)
    assert (loaded.status, loaded.rows_in, loaded.rows_quarantined) == ("loaded", 3, 2)
    assert rewrite_inbox(settings.operational_url, lake, settings.inbox, ada()) == 1
    left = pq.read_table(path)
    assert left["email"].to_pylist() == [ada().name("email", ADA), "bob@example.com", "cyd@example.com"]
    assert left["updated_at"] == before["updated_at"] and left["x_at"].slice(1) == before["x_at"].slice(1)
    assert left["x_parts"].to_pylist() == [None, ["b"], []]
    assert left.schema.types == before.schema.types
    assert waiting_files(settings) == [] and lost_imports(settings.operational_url, lake) == []
