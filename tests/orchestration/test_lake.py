"""The lake: a batch lands whole, once, and with nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
import time_machine

from data_contracts.contract import landed
from orchestration import durable
from orchestration.batch_file import raw_schema
from orchestration.lake import Lake, Landing
from orchestration.landed_facts import SCHEMA, read_facts
from orchestration.quarantine import counted
from tests.data_contracts.records import NOW, record

PROFILE = "01900000-0000-7000-8000-00000000000a"
BAD = {"channel": "tv"}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path / "lake")
    made.prepare()
    return made


def touches(*keys: str, **changes: Any) -> list[dict[str, Any]]:
    return [record("touches", touch_key=key, **changes) for key in keys]


def land(lake: Lake, records: Any, batch: str = "b", **more: Any) -> Landing:
    return lake.land(
        **{"dataset": "touches", "profile_id": PROFILE, "source": "file", "batch": batch, "now": NOW}
        | {"records": records}
        | more
    )


def rows(lake: Lake, dataset: str = "touches") -> list[tuple[Any, ...]]:
    """(key, _seq, _line) of every raw row, as the warehouse reads them."""
    glob = f"{lake.raw}/{dataset}/**/*.parquet"
    return duckdb.execute(
        "select touch_key, _seq, _line from read_parquet(?, union_by_name = true) order by all", [glob]
    ).fetchall()


def contents(lake: Lake) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in lake.root.rglob("*.parquet")}


def test_every_set_has_a_file_to_read_before_anything_lands(lake: Lake) -> None:
    for dataset, contract in landed().items():
        path = lake.raw / dataset / "_schema.parquet"
        assert pq.read_schema(path).equals(raw_schema(contract))
    assert rows(lake) == []


def test_a_batch_lands_with_its_stamps_and_the_bad_records_beside_it(lake: Lake) -> None:
    landing = land(lake, [*touches("a"), *touches("b", **BAD), *touches("c", x_shop="north", _deleted="true")])
    assert (landing.rows_in, landing.rows_loaded, landing.rows_quarantined) == (3, 2, 1)
    assert landing.path == lake.raw / "touches" / PROFILE / "file" / "b.parquet"
    table = pq.read_table(landing.path).to_pylist()
    assert [(one["touch_key"], one["_line"], one["_deleted"]) for one in table] == [("a", 1, False), ("c", 3, True)]
    assert {(one["_profile_id"], one["_source"], one["_batch"], one["_seq"]) for one in table} == {
        (PROFILE, "file", "b", landing.seq)
    }
    assert table[1]["_extra"] == '{"x_shop": "north"}'
    (reason,) = counted(lake, "touches")
    assert (reason.profile_id, reason.source, reason.field, reason.rows) == (PROFILE, "file", "channel", 1)


def test_the_same_content_again_leaves_every_byte_as_it_is(lake: Lake) -> None:
    records = [*touches("a", "b"), *touches("c", **BAD)]
    first = land(lake, records)
    before = contents(lake)
    again = land(lake, iter(records))
    assert (first.changed, again.changed) == (True, False)
    assert again.seq == first.seq
    assert contents(lake) == before


def test_the_same_content_lands_once_more_when_what_it_tells_of_is_over(lake: Lake) -> None:
    first = land(lake, touches("a"))
    soon, late = first.loaded_at + timedelta(microseconds=1), first.loaded_at + timedelta(days=1)
    assert not land(lake, touches("a"), complete_from=first.loaded_at).changed
    assert not land(lake, touches("a"), complete_from=late).changed
    second = land(lake, touches("a"), complete_from=soon)
    assert second.changed
    assert second.loaded_at >= soon
    assert not land(lake, touches("a"), complete_from=soon).changed


def test_other_content_replaces_the_batch_whole_and_comes_later(lake: Lake) -> None:
    first = land(lake, [*touches("a", "b"), *touches("c", **BAD)])
    second = land(lake, touches("a"))
    assert second.seq > first.seq
    assert rows(lake) == [("a", second.seq, 1)]
    assert counted(lake, "touches") == []
    assert list(lake.quarantine.rglob("*.parquet")) == []


def test_what_was_asked_for_before_the_batch_landed_does_not_replace_it(lake: Lake) -> None:
    first = land(lake, touches("a"))
    before, ahead = first.loaded_at - timedelta(microseconds=1), timedelta(days=400)
    assert not land(lake, touches("b"), asked_at=before).changed
    assert land(lake, touches("c"), asked_at=first.loaded_at).changed
    # a clock that was ahead would keep the batch as it is until that time comes
    with time_machine.travel(first.loaded_at - ahead, tick=False):
        assert land(lake, touches("d"), asked_at=before - ahead).changed


def test_a_batch_may_become_empty(lake: Lake) -> None:
    land(lake, touches("a"))
    assert land(lake, []).rows_in == 0
    assert rows(lake) == []


def test_numbers_of_landings_only_grow_also_when_the_counter_is_lost_or_damaged(lake: Lake) -> None:
    seqs = [land(lake, touches("a"), "b1").seq, land(lake, touches("a"), "b2").seq]
    (lake.root / "_seq").unlink()
    seqs.append(land(lake, touches("a"), "b3").seq)
    for number, content in enumerate((b"", b"\0\0", b"\xff"), start=4):
        # nothing landed any more
        (lake.root / "_seq").write_bytes(content)
        seqs.append(land(lake, touches("a"), f"b{number}").seq)
    assert seqs == sorted(set(seqs))
    assert [landing.batch for landing in lake.batches("touches")] == [f"b{number}" for number in range(1, 7)]


def test_records_that_fail_on_the_way_land_nothing(lake: Lake) -> None:
    land(lake, touches("a"))
    before = contents(lake)

    def failing() -> Any:
        yield from touches("b")
        raise ConnectionError("the platform went away")

    with pytest.raises(ConnectionError):
        land(lake, failing())
    assert contents(lake) == before
    assert list(lake.root.rglob("*.tmp")) == []


def test_a_known_origin_is_not_read_again(lake: Lake) -> None:
    land(lake, touches("a"), origin="v1")
    untouchable = (1 / 0 for _ in "x")
    assert not land(lake, untouchable, origin="v1").changed
    assert land(lake, touches("b"), origin="v2").changed


@pytest.mark.parametrize("name", ["../b", "a/b", ".hidden", "", "a b"])
def test_a_name_cannot_leave_the_lake(lake: Lake, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a folder or file"):
        land(lake, touches("a"), name)


def test_chunks_keep_counting_lines(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestration.chunks.MOST_RECORDS", 2)
    landing = land(lake, [*touches("a", "b", "c"), *touches("d", **BAD), *touches("e")])
    assert (landing.rows_loaded, landing.rows_quarantined) == (4, 1)
    assert [(key, line) for key, _, line in rows(lake)] == [("a", 1), ("b", 2), ("c", 3), ("e", 5)]


def test_large_records_are_judged_and_written_a_few_at_a_time(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestration.chunks.MOST_TEXT", 10_000)
    landing = land(lake, touches(*"abcde", x_note="n" * 6000))
    assert [key for key, _, _ in rows(lake)] == [*"abcde"]
    assert pq.read_metadata(landing.path).num_row_groups == 3


def test_replay_puts_records_that_pass_now_back_at_their_place(lake: Lake) -> None:
    early = [*touches("a"), *touches("b", occurred_at="2026-11-20T00:00:00Z"), *touches("c"), *touches("d", **BAD)]
    first = land(lake, early)
    later = land(lake, touches("b"), "later")
    assert (first.rows_loaded, first.rows_quarantined) == (2, 2)
    assert lake.replay(now=NOW) == []
    (replayed,) = lake.replay(now=NOW + timedelta(days=5))
    assert (replayed.seq, replayed.rows_in, replayed.rows_loaded, replayed.rows_quarantined) == (first.seq, 4, 3, 1)
    assert sorted(pq.read_table(replayed.path)["_line"].to_pylist()) == [1, 2, 3]
    # the replayed record keeps its place: the batch that came after it still wins
    assert rows(lake) == [("a", first.seq, 1), ("b", first.seq, 2), ("b", later.seq, 1), ("c", first.seq, 3)]
    assert [reason.field for reason in counted(lake, "touches")] == ["channel"]
    assert not land(lake, early, now=NOW + timedelta(days=5)).changed


def test_replay_takes_nothing_for_text_that_is_none(lake: Lake) -> None:
    given = [Decimal("123.0"), Decimal(77), Decimal("1E+999"), b"abc", date(2026, 11, 1), ["a"], {"a": Decimal(1)}]
    assert land(lake, [record("touches", touch_key=value) for value in given]).rows_quarantined == len(given)
    # in a record that is at fault for another reason too
    land(lake, touches("a", occurred_at="2026-11-20T00:00:00Z", utm_term=Decimal("1.5")), "later")
    named = [{"name": "size", "value": Decimal(2)}]
    listed = [record("creatives", offers=[Decimal("1.5")]), record("creatives", offers=["a", [b"x"]])]
    assert land(lake, [record("variants", options=named)], dataset="variants").rows_quarantined == 1
    assert land(lake, listed, dataset="creatives").rows_quarantined == 2
    assert lake.replay(now=NOW + timedelta(days=5)) == []


def test_a_lake_that_is_being_written_is_looked_at_without_waiting(lake: Lake) -> None:
    written = lake.raw / "touches" / ".b.1.tmp"
    written.touch()
    looking = threading.Thread(target=lake.prepare)
    with durable.exclusive(lake.root / ".lock"):
        looking.start()
        looking.join(60)
        has_waited = looking.is_alive()
        is_left = written.exists()
    looking.join()
    assert (has_waited, is_left) == (False, True)
    lake.prepare()
    assert not written.exists()


def test_what_a_killed_writer_left_is_cleared(lake: Lake) -> None:
    land(lake, touches("a", **BAD))
    (kept,) = lake.quarantine.rglob("*.parquet")
    (kept.parent / "b.99.parquet").write_bytes(kept.read_bytes())
    (kept.parent / "gone.7.parquet").write_bytes(kept.read_bytes())
    (lake.raw / "touches" / ".b.99.tmp").write_text("half")
    lake.prepare()
    assert list(lake.quarantine.rglob("*.parquet")) == [kept]
    assert list(lake.root.rglob("*.tmp")) == []


KILLED = """
import os, pathlib, signal, sys
from orchestration.lake import Lake
from tests.orchestration.test_lake import BAD, land, touches
replace, point, count = pathlib.Path.replace, int(sys.argv[2]), 0
def deadly(self, target):
    global count
    count += 1
    if count == point:
        os.kill(os.getpid(), signal.SIGKILL)
    result = replace(self, target)
    if count == -point:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
lake = Lake(pathlib.Path(sys.argv[1]))
pathlib.Path.replace = deadly
land(lake, [*touches("new1", "new2"), *touches("new3", **BAD)])
"""


# a landing renames three files: the counter, the quarantine and the raw file; killed before (1..3) or after (-1..-3)
@pytest.mark.parametrize("point", [1, -1, 2, -2, 3, -3])
def test_a_landing_that_is_killed_is_there_whole_or_not_at_all(lake: Lake, point: int) -> None:
    old = land(lake, [*touches("old"), *touches("bad", **BAD), *touches("bad2", **BAD)])
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    died = subprocess.run([sys.executable, "-c", KILLED, str(lake.root), str(point)], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    (now,) = lake.batches("touches")
    assert read_facts(now.path).rows_in == now.rows_loaded + now.rows_quarantined == 3
    assert sum(reason.rows for reason in counted(lake, "touches")) == now.rows_quarantined
    assert [key for key, _, _ in rows(lake)] == (["new1", "new2"] if point == -3 else ["old"])
    lake.prepare()
    assert sum(reason.rows for reason in counted(lake, "touches")) == now.rows_quarantined
    again = land(lake, [*touches("new1", "new2"), *touches("new3", **BAD)])
    assert again.seq > old.seq
    assert [key for key, _, _ in rows(lake)] == ["new1", "new2"]
    assert len(list(lake.quarantine.rglob("*.parquet"))) == 1


@pytest.mark.parametrize("damage", ["junk", "cut", "empty"])
def test_an_empty_file_of_a_data_set_that_is_damaged_is_made_anew(lake: Lake, damage: str) -> None:
    land(lake, touches("a"))
    whole = contents(lake)
    path = lake.raw / "touches" / SCHEMA
    path.write_bytes({"junk": b"no Parquet file", "cut": path.read_bytes()[:-9], "empty": b""}[damage])
    lake.prepare()
    assert contents(lake) == whole
