"""The doctor's looks at what lies in the state folder."""

from __future__ import annotations

import random

import pytest

from tests.factories import served
from touchledger.doctor_files import snapshot
from touchledger.settings import Settings


@pytest.mark.parametrize("damage", ["cut off", "changed within"])
def test_a_file_of_names_that_is_damaged_is_told(settings: Settings, damage: str) -> None:
    # its rows were only counted, which no block of them is read for: all was well, and each list of people was 503
    drawn = random.Random(7)
    people = [{"profile_key": 1, "person_key": n, "email": f"{drawn.randbytes(40).hex()}@b.co"} for n in range(9_000)]
    snapshot_id = served.publish(settings.published, {"person_names": people})
    assert [one.verdict for one in snapshot(settings)] == ["ok"]
    path = settings.published / f"names-{snapshot_id}.duckdb"
    whole = path.read_bytes()
    half = len(whole) // 2
    path.chmod(0o600)
    path.write_bytes(whole[:half] + (b"" if damage == "cut off" else bytes(64) + whole[half + 64 :]))
    (finding,) = snapshot(settings)
    assert finding.verdict == "fail"
    assert "`touchledger build`" in finding.way_out
