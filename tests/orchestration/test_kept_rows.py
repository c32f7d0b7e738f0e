"""The marts that keep rows, as publication is told of them."""

from __future__ import annotations

from orchestration.kept_rows import Kept, kept_marts
from orchestration.served_tables import served_tables
from touchledger.settings import load


def test_marts_say_whose_rows_an_increment_makes_anew() -> None:
    found = kept_marts(load())
    assert found["touches"] == Kept(("person_key",), "intermediate.int_changed_paths", "ts")
    assert found["credit_cents"] == Kept(("conversion_key",), "intermediate.int_changed_conversions")
    assert found["credit_daily"] == Kept(("profile_key", "day"), "intermediate.int_changed_days")
    assert "people_cells" not in found, "sums are not made anew by their keys"
    assert "payments" not in found, "it is computed whole"


def test_what_tells_rows_made_anew_is_served_with_them() -> None:
    tables = {table.name: {column.name for column in table.columns} for table in served_tables()}
    kept = kept_marts(load())
    assert kept.keys() <= tables.keys()
    for name, one in kept.items():
        assert {*one.keys, *([one.since] if one.since else [])} <= tables[name]
