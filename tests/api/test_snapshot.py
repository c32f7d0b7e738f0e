"""Promise: a reader never meets half a version, and a swap cuts no request."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
import structlog

from api import snapshot
from api.served import TABLES, Reader
from api.snapshot import Snapshots
from tests.factories import served
from tests.factories.versions import number_in, version
from tests.fixtures.waiting import wait_until
from touchledger.settings import Settings


def test_before_the_first_publication_there_is_nothing_to_read(snapshots: Snapshots) -> None:
    with snapshots.reader() as reader:
        assert reader is None
    assert snapshots.health() == snapshot.Health(None, None)


def test_the_next_request_reads_what_was_published(snapshots: Snapshots, bare: Settings) -> None:
    for number in (1, 2, 3):
        snapshot_id = served.publish(bare.published, version(number), token=number)
        assert number_in(snapshots) == number
        assert snapshots.health() == snapshot.Health(snapshot_id, None)


def test_a_request_keeps_its_snapshot_while_others_are_published(snapshots: Snapshots, bare: Settings) -> None:
    served.publish(bare.published, version(1), token=1)
    with snapshots.reader() as reader:
        assert reader
        for number in (2, 3, 4):
            served.publish(bare.published, version(number), token=number)
            assert number_in(snapshots) == number
        assert reader.rows("select cash_minor from outcomes_daily") == [(1,)]
        assert reader.rows("select sum(spend_minor) from delivery_daily") == [(3,)]


def test_files_no_longer_read_are_closed(snapshots: Snapshots, bare: Settings) -> None:
    for number in range(1, 8):
        served.publish(bare.published, version(number), token=number)
        number_in(snapshots)
    opened = {link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()}
    ours = {path for path in opened if path.parent == bare.published and path.suffix == ".duckdb"}
    assert 1 <= len(ours) <= snapshot.KEPT_OPEN


def test_a_kept_snapshot_is_read_by_its_id(snapshots: Snapshots, bare: Settings) -> None:
    ids = [served.publish(bare.published, version(number), token=number) for number in (1, 2, 3)]
    assert [number_in(snapshots, one) for one in [*ids, *reversed(ids)]] == [1, 2, 3, 3, 2, 1]
    assert number_in(snapshots) == 3


def test_a_snapshot_that_was_removed_is_neither_read_nor_kept_open(snapshots: Snapshots, bare: Settings) -> None:
    before = served.publish(bare.published, version(1), token=1)
    assert number_in(snapshots) == 1
    served.publish(bare.published, version(2), token=2)
    assert [number_in(snapshots), number_in(snapshots, before)] == [2, 1]
    (bare.published / f"served-{before}.duckdb").unlink()
    with snapshots.reader(before) as reader:
        assert reader is None
    assert snapshots.health().problem is None
    opened = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert [path for path in opened if before in path] == []


@dataclass(frozen=True)
class Cash:
    """What a snapshot of `version(number)` knows: its number."""

    size: int


def cash(source: Reader) -> Cash:
    return Cash(source.rows("select cash_minor from outcomes_daily")[0][0])


def test_what_was_asked_of_a_snapshot_is_read_of_the_next_before_anybody_asks(
    snapshots: Snapshots, bare: Settings
) -> None:
    served.publish(bare.published, version(1), token=1)
    with snapshots.reader() as reader:
        assert reader
        assert reader.shelf.get("cash", cash, reader) == Cash(1)
    served.publish(bare.published, version(2), token=2)
    with snapshots.reader() as reader:
        assert reader
        wait_until(lambda: bool(reader.shelf.used_within(600)))
        assert reader.shelf.find("cash") == Cash(2)


def test_what_cannot_be_read_ahead_is_left_to_who_asks(snapshots: Snapshots, bare: Settings) -> None:
    def gone(source: Reader) -> Cash:
        if source.snapshot_id != first:
            source.rows("select * from gone")
        return Cash(1)

    first = served.publish(bare.published, version(1), token=1)
    with snapshots.reader() as reader:
        assert reader
        reader.shelf.get("gone", gone, reader)
    with structlog.testing.capture_logs() as logged:
        served.publish(bare.published, version(2), token=2)
        assert number_in(snapshots) == 2
        wait_until(lambda: bool(logged))
    assert [(line["event"], line["problem"]) for line in logged] == [("not_read_ahead", "CatalogException")]
    assert number_in(snapshots) == 2


@pytest.mark.parametrize("unknown", ["00000000-0000-4000-8000-000000000000", "../current", "a/b", ""])
def test_an_id_that_is_not_kept_reads_nothing(snapshots: Snapshots, bare: Settings, unknown: str) -> None:
    served.publish(bare.published, version(1))
    assert number_in(snapshots, unknown) is None
    assert number_in(snapshots) == 1


@pytest.mark.parametrize(
    "forbidden",
    [
        "select * from read_text('/etc/hostname')",
        "attach '/tmp/elsewhere.duckdb'",
        "copy outcomes_daily to '/tmp/out.csv'",
        "set threads = 8",
        "set enable_external_access = true",
        "delete from outcomes_daily",
        "install httpfs",
    ],
)
def test_the_serving_connection_can_only_read_its_tables(snapshots: Snapshots, bare: Settings, forbidden: str) -> None:
    served.publish(bare.published, version(1))
    with pytest.raises(duckdb.Error), snapshots.reader() as reader:
        assert reader
        reader.rows(forbidden)


def test_a_forked_process_opens_the_snapshot_for_itself(snapshots: Snapshots, bare: Settings) -> None:
    served.publish(bare.published, version(5))
    assert number_in(snapshots) == 5
    with warnings.catch_warnings():
        # newer Pythons warn of a fork beside threads, which is what is tried here
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        # a deadlock in the child ends as a failure; and the child must not run pytest's own teardown
        signal.alarm(20)
        os._exit(0 if number_in(snapshots) == 5 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert number_in(snapshots) == 5


def test_a_publish_loop_under_concurrent_readers_shows_no_error_and_no_mixed_version(
    snapshots: Snapshots, bare: Settings
) -> None:
    served.publish(bare.published, version(1), token=1)
    done = threading.Event()
    seen: list[tuple[int, int]] = []
    problems: list[BaseException] = []

    def read() -> None:
        try:
            while not done.is_set():
                with snapshots.reader() as reader:
                    assert reader
                    cash = reader.rows("select cash_minor from outcomes_daily")[0][0]
                    spend = reader.rows("select sum(spend_minor) from delivery_daily")[0][0]
                    seen.append((cash, spend))
                time.sleep(0.001)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    ids = []

    def publish(number: int) -> None:
        ids.append(served.publish(bare.published, version(number), token=number))
        wait_until(lambda: problems or (number, 3 * number) in seen[-100:])

    try:
        for number in range(2, 10):
            publish(number)
            for old in ids[:-3]:
                (bare.published / f"served-{old}.duckdb").unlink(missing_ok=True)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert problems == []
    assert {(cash, 3 * cash) for cash, _ in seen} == set(seen)
    assert {cash for cash, _ in seen} >= set(range(2, 10))


def test_a_request_that_begins_once_the_old_snapshot_is_removed_reads_the_new_one(
    snapshots: Snapshots, bare: Settings
) -> None:
    old = served.publish(bare.published, version(1), token=1)
    done, newest = threading.Event(), [1]
    seen: list[tuple[int, int]] = []

    def read() -> None:
        while not done.is_set():
            least = newest[0]
            seen.append((least, number_in(snapshots) or 0))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(2, 12):
            new = served.publish(bare.published, version(number), token=number)
            # as after an erasure, whose publication leaves no file of before
            (bare.published / f"served-{old}.duckdb").unlink()
            old, newest[0] = new, number
            wait_until(lambda number=number: (number, number) in seen[-100:])
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert [(least, number) for least, number in seen if number < least] == []


def test_the_factory_makes_every_served_table(snapshots: Snapshots, bare: Settings) -> None:
    served.publish(bare.published, {})
    with snapshots.reader() as reader:
        assert reader
        assert {name for (name,) in reader.rows("select table_name from duckdb_tables()")} == set(TABLES)
