"""A person taken out of the lake: however large a file is, it is read and written some rows at a time."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from api.db import transaction
from api.models import Import
from orchestration import durable
from orchestration.erased_files import rewrite_inbox
from orchestration.erased_lake import rewrite_lake, told_beside
from orchestration.importer import lost_imports
from orchestration.inbox import scan_inbox
from orchestration.lake import Lake
from orchestration.landed_facts import DamagedRawFileError, read_facts
from tests.fixtures.waiting import wait_until
from tests.orchestration.test_erased_files import ADA, ada, drop
from tests.orchestration.test_importer import PROFILE
from tests.orchestration.test_inbox import lake
from tests.orchestration.test_lake import BAD, land, touches
from touchledger.settings import Settings

__all__ = ["lake"]

OTHER, AT = "bob@example.com", "2026-03-05T10:00:00Z"


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


def test_what_a_click_a_text_or_a_statement_ties_to_the_person_is_renamed_and_nobody_elses(lake: Lake) -> None:
    # too short to tell her anywhere else than in its column
    click, told = "clk-Ada", "ada%40example.com"
    clicked = [
        *touches("a", email=ADA, click_id_type="gclid", click_id=click),
        *touches("b", email=None, anonymous_id="device", click_id_type="gclid", click_id=click),
    ]
    others = [*touches("c", email=OTHER, utm_content=f"to {told}"), *touches("d", email=OTHER, click_id="another")]
    land(lake, [*clicked, *others], profile_id=PROFILE, origin="pull 1")
    pair = {"kind_a": "email", "value_a": ADA, "kind_b": "external_id", "value_b": "crm-7", "observed_at": AT}
    land(lake, [pair, {**pair, "value_a": OTHER}], dataset="identities", profile_id=PROFILE)
    learnt: list[tuple[Counter[str], list[str]]] = []
    counts = rewrite_lake(
        lake, ada(), {"email": [ADA]}, learnt=lambda found: learnt.append((Counter(found), emails(lake)))
    )
    assert counts == {"touches": 3, "identities": 1}
    assert learnt == [(counts, [ADA, OTHER, OTHER])], "what is about to go is told while it is there"
    left = pq.read_table(lake.batches("touches")[0].path).to_pylist()
    assert not [row for row in left if {ADA, click, f"to {told}"} & {*row.values()}]
    assert left[0]["click_id"] == left[1]["click_id"] and left[1]["anonymous_id"] == "device"
    assert [row["click_id"] for row in left[2:]] == [None, "another"] and emails(lake)[1:] == [OTHER, OTHER]
    facts = read_facts(lake.batches("touches")[0].path)
    assert (facts.origin, facts.content) == (None, ""), "the same pull is landed anew, and no hash tells of her"
    stated = pq.read_table(lake.batches("identities")[0].path).to_pylist()
    assert [row["value_a"] in (ADA, OTHER) for row in stated] == [False, True]


def test_a_person_of_many_long_clicks_is_taken_out_too(lake: Lake) -> None:
    # Arrow refused the pattern of them all: the erasure failed with every build, and nothing was published any more
    rows = [*touches("a", email=OTHER)]
    for number in range(160):
        rows += touches(f"t{number}", email=ADA, click_id_type="gclid", click_id=f"{number:04d}{'k' * 1000}")
    land(lake, rows, profile_id=PROFILE)
    assert rewrite_lake(lake, ada(), {"email": [ADA]}) == {"touches": 160}
    left = pq.read_table(lake.batches("touches")[0].path, columns=["email", "click_id"]).to_pylist()
    assert left[0]["email"] == OTHER and not [row for row in left if "kkk" in str(row) or row["email"] == ADA]


def emails(lake: Lake) -> list[str]:
    found = pq.read_table(lake.batches("touches")[0].path, columns=["email"])["email"].to_pylist()
    return [one for one in found if one is not None]


def test_a_backup_that_comes_in_the_midst_of_a_file_waits_for_its_import_too(settings: Settings, lake: Lake) -> None:
    # restored from a database of before and an inbox of after, the file was imported as a new one, and the doctor told
    # for ever that the rows of the first one are gone
    url, path = settings.operational_url, drop(settings, "a.csv", f"person_key,email\np1,{ADA}\n".encode())
    scan_inbox(settings, lake)
    before = path.read_bytes()
    with ThreadPoolExecutor(1) as pool, transaction(url) as session:
        # nobody else writes to the database meanwhile
        assert session.scalar(sa.select(Import.status)) == "loaded"
        rewriting = pool.submit(rewrite_inbox, url, lake, settings.inbox, ada())
        wait_until(lambda: path.read_bytes() != before)
        # the runbook's backup holds it while it copies the database, the lake and the inbox
        with durable.exclusive(lake.root / ".lock", wait=False) as is_free:
            assert not is_free
        session.commit()
        assert rewriting.result(60) == 1
    assert lost_imports(url, lake) == []
