"""A person taken out of the lake: however large a file is, it is read and written some rows at a time."""

from __future__ import annotations

import duckdb
import pyarrow.parquet as pq
import pytest

from orchestration.erased_lake import rewrite_lake, told_beside
from orchestration.lake import Lake
from orchestration.landed_facts import DamagedRawFileError
from tests.orchestration.test_erased_files import ADA, ada
from tests.orchestration.test_importer import PROFILE
from tests.orchestration.test_inbox import lake
from tests.orchestration.test_lake import BAD, land, touches

__all__ = ["lake"]

OTHER = "bob@example.com"


def test_a_file_is_rewritten_in_the_parts_in_which_it_landed(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestration.chunks.MOST_RECORDS", 3)
    good = [*touches("a", "b", email=OTHER), *touches("c", email=ADA), *touches("d", "e", email=OTHER)]
    bad = [*touches("f", email=OTHER, **BAD), *touches("g", email=ADA, **BAD)]
    landed = land(lake, [*good, *bad], profile_id=PROFILE)
    assert landed.quarantine is not None
    before = pq.read_metadata(landed.path).num_row_groups, pq.read_metadata(landed.quarantine).num_row_groups
    assert rewrite_lake(lake, ada(), {"email": [ADA]}) == {"touches": 2}
    assert (pq.read_metadata(landed.path).num_row_groups, pq.read_metadata(landed.quarantine).num_row_groups) == before
    kept = duckdb.execute("select touch_key, email from read_parquet(?) order by all", [str(landed.path)]).fetchall()
    assert [key for key, address in kept if address == OTHER] == ["a", "b", "d", "e"]
    assert [key for key, address in kept if address not in (OTHER, ADA)] == ["c"]
    assert [ADA in record for record in pq.read_table(landed.quarantine)["record"].to_pylist()] == [False, False]
    assert lake.batches("touches")[0].rows_loaded == 5


def test_a_batch_of_which_no_row_is_good_hinders_nobody(lake: Lake) -> None:
    landed = land(lake, touches("a", email=ADA, **BAD), profile_id=PROFILE)
    assert rewrite_lake(lake, ada(), {"email": [ADA]}) == {"touches": 1}
    assert landed.quarantine is not None
    assert ADA not in pq.read_table(landed.quarantine)["record"][0].as_py()


def test_what_only_rejected_records_tell_of_the_person_is_found_and_what_others_have_too_is_not(lake: Lake) -> None:
    hers = {"email": ADA, "phone": "+1 415 555 0123", "external_id": "crm-ada", "anonymous_id": "undefined"}
    others = touches("b", email=OTHER, phone="+14155550199", anonymous_id="undefined", **BAD)
    land(lake, [*touches("a", **hers, **BAD), *others], profile_id=PROFILE)
    assert told_beside(lake, ada()) == {("phone", "+14155550123"), ("external_id", "crm-ada")}


def test_a_damaged_file_of_the_quarantine_is_named_where_an_erasure_needs_it(lake: Lake) -> None:
    kept = land(lake, touches("a", email=ADA, **BAD), profile_id=PROFILE).quarantine
    assert kept is not None
    kept.write_bytes(kept.read_bytes()[:-9])
    for asked in (lambda: told_beside(lake, ada()), lambda: rewrite_lake(lake, ada(), {"email": [ADA]})):
        with pytest.raises(DamagedRawFileError, match=f"^{kept} is damaged; put it back"):
            asked()
