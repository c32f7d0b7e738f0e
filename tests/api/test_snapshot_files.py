"""Promise: a broken file or pointer is never served; the snapshot before it is, and readiness says so."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest
from structlog.testing import capture_logs

from api import errors, snapshot
from api.snapshot import Snapshots
from tests.factories import served
from tests.factories.versions import number_in, version
from touchledger.settings import Settings


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _without_a_column(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("alter table credit_daily drop column cash_minor")


def _of_another_name(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("update snapshot set snapshot_id = 'another'")


BREAKAGES = {
    "cut short": _cut,
    "empty": lambda path: path.write_bytes(b""),
    "not a database": lambda path: path.write_bytes(b"<html>" * 5000),
    "removed": lambda path: path.unlink(),
    "a column short": _without_a_column,
    "of another name": _of_another_name,
}


def _publish_broken(bare: Settings, how: str, token: int) -> None:
    """A file is broken before the pointer names it, as a failing disk or a wrong build would leave it."""
    broken = f"broken-{token}"
    before = (bare.published / "current.json").read_bytes()
    served.publish(bare.published, version(-1), token=token, snapshot_id=broken)
    (bare.published / "current.json").write_bytes(before)
    BREAKAGES[how](bare.published / f"served-{broken}.duckdb")
    served.point(bare.published, broken, token=token)


@pytest.mark.parametrize("how", BREAKAGES)
def test_a_broken_file_leaves_the_previous_one_served_and_says_so(
    snapshots: Snapshots, bare: Settings, how: str
) -> None:
    good = served.publish(bare.published, version(1), token=1)
    assert number_in(snapshots) == 1
    _publish_broken(bare, how, token=2)
    assert number_in(snapshots) == 1
    health = snapshots.health()
    assert health.snapshot_id == good
    assert health.problem
    assert str(bare.published) not in health.problem
    served.publish(bare.published, version(3), token=3)
    assert number_in(snapshots) == 3
    assert snapshots.health().problem is None


@pytest.mark.parametrize("how", BREAKAGES)
def test_a_process_that_starts_beside_a_broken_file_serves_the_one_before(bare: Settings, how: str) -> None:
    served.publish(bare.published, version(1), token=1)
    served.publish(bare.published, version(2), token=2)
    served.publish(bare.published, version(9), token=9, snapshot_id="never-published")
    served.point(bare.published, "unpublished", token=3)
    _publish_broken(bare, how, token=4)
    started = Snapshots(bare)
    assert number_in(started) == 2
    assert started.health().problem
    started.close()


def test_nothing_to_fall_back_on_is_database_unavailable(snapshots: Snapshots, bare: Settings) -> None:
    bare.published.mkdir()
    (bare.published / "current.json").write_text("{not json")
    with pytest.raises(errors.ApiError) as refusal, snapshots.reader():
        pass
    assert refusal.value.code is errors.DATABASE_UNAVAILABLE
    # it said that the database could not be reached, which answers all along
    assert refusal.value.message.startswith("The published figures cannot be read")
    assert refusal.value.headers["Retry-After"] == "2"
    assert snapshots.health().problem


def test_why_a_snapshot_is_not_served_is_logged_once(
    snapshots: Snapshots, bare: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # after an upgrade all figures answered 503, and no log of the API said that a build was all it took
    monkeypatch.setattr(snapshot, "RETRY_SECONDS", 0.0)
    served.publish(bare.published, version(1), token=1)
    _without_a_column(next(bare.published.glob("served-*.duckdb")))
    with capture_logs() as logged:
        for _ in range(3):
            assert snapshots.health().snapshot_id is None
    (line,) = logged
    assert (line["event"], line["log_level"], line["served"]) == ("snapshot_not_served", "error", None)
    assert line["problem"].endswith("lacks credit_daily.cash_minor")


@pytest.mark.parametrize("content", ["", "{not json", "[]", "{}", '{"file": "../../etc/passwd"}', '{"file": null}'])
def test_a_broken_pointer_leaves_the_previous_snapshot_served(
    snapshots: Snapshots, bare: Settings, content: str
) -> None:
    served.publish(bare.published, version(1))
    assert number_in(snapshots) == 1
    (bare.published / "current.json").write_text(content)
    assert number_in(snapshots) == 1
    assert snapshots.health().problem


def test_a_vanished_pointer_leaves_the_previous_snapshot_served(snapshots: Snapshots, bare: Settings) -> None:
    served.publish(bare.published, version(1))
    assert number_in(snapshots) == 1
    (bare.published / "current.json").unlink()
    assert number_in(snapshots) == 1
    assert snapshots.health().problem


def test_a_broken_file_is_tried_again_after_a_while(
    snapshots: Snapshots, bare: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "RETRY_SECONDS", 0.05)
    served.publish(bare.published, version(1), token=1)
    newest = served.publish(bare.published, version(2), token=2)
    path = bare.published / f"served-{newest}.duckdb"
    hidden = path.rename(path.with_suffix(".away"))
    assert number_in(snapshots) == 1
    hidden.rename(path)
    time.sleep(0.1)
    assert number_in(snapshots) == 2
    assert snapshots.health().problem is None


def _with_many_rows(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "insert into outcomes_daily by name select 1 as profile_key, range % 7 as cash_minor from range(20000)"
        )


def _sum(snapshots: Snapshots) -> int:
    with snapshots.reader() as reader:
        assert reader
        return int(reader.rows("select sum(cash_minor) from outcomes_daily")[0][0])


def test_a_flipped_bit_is_never_read_as_a_number(bare: Settings) -> None:
    served.publish(bare.published, version(1), token=1)
    newest = served.publish(bare.published, version(2), token=2)
    path = bare.published / f"served-{newest}.duckdb"
    _with_many_rows(path)
    true_sum = 2 + sum(number % 7 for number in range(20000))
    content = path.read_bytes()
    refusals = set()
    for place in range(100, len(content), len(content) // 12):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        started = Snapshots(bare)
        try:
            _sum(started)
        except errors.ApiError as refusal:
            refusals.add(refusal.code)
        # a block this query never reads may be damaged unnoticed; what is answered is right all the same
        assert _sum(started) == (1 if started.health().problem else true_sum)
        started.close()
    assert refusals == {errors.DATABASE_UNAVAILABLE}
