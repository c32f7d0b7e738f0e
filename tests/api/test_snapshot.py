"""Promise: a reader never meets half a version, a broken file is never served, and a swap cuts no request."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from api import errors, snapshot
from api.served import TABLES, profile_facts
from api.snapshot import Snapshots
from tests.factories import served
from touchledger.settings import Settings

ENDLESS = "select count(*) from range(100000000000) where range % 7 = 3"


def _version(number: int) -> served.Rows:
    """Two tables that carry the version's number, so that a mixed read shows."""
    day = {"profile_key": 1, "day": "2026-03-01"}
    return {
        "outcomes_daily": [{**day, "cash_minor": number}],
        "delivery_daily": [{**day, "level": "ad", "entity_key": n, "spend_minor": number} for n in range(3)],
    }


def _number(snapshots: Snapshots, snapshot_id: str | None = None) -> int | None:
    with snapshots.reader(snapshot_id) as reader:
        return int(reader.rows("select cash_minor from outcomes_daily")[0][0]) if reader else None


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, query_deadline_seconds=30)


@pytest.fixture
def snapshots(settings: Settings) -> Iterator[Snapshots]:
    found = Snapshots(settings)
    yield found
    found.close()


def test_before_the_first_publication_there_is_nothing_to_read(snapshots: Snapshots) -> None:
    with snapshots.reader() as reader:
        assert reader is None
    assert snapshots.health() == snapshot.Health(None, None)


def test_the_next_request_reads_what_was_published(snapshots: Snapshots, settings: Settings) -> None:
    for number in (1, 2, 3):
        snapshot_id = served.publish(settings.published, _version(number), token=number)
        assert _number(snapshots) == number
        assert snapshots.health() == snapshot.Health(snapshot_id, None)


def test_a_request_keeps_its_snapshot_while_others_are_published(snapshots: Snapshots, settings: Settings) -> None:
    served.publish(settings.published, _version(1), token=1)
    with snapshots.reader() as reader:
        assert reader
        for number in (2, 3, 4):
            served.publish(settings.published, _version(number), token=number)
            assert _number(snapshots) == number
        assert reader.rows("select cash_minor from outcomes_daily") == [(1,)]
        assert reader.rows("select sum(spend_minor) from delivery_daily") == [(3,)]


def test_files_no_longer_read_are_closed(snapshots: Snapshots, settings: Settings) -> None:
    for number in range(1, 8):
        served.publish(settings.published, _version(number), token=number)
        _number(snapshots)
    opened = {link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()}
    ours = {path for path in opened if path.parent == settings.published and path.suffix == ".duckdb"}
    assert 1 <= len(ours) <= snapshot.KEPT_OPEN


def test_a_kept_snapshot_is_read_by_its_id(snapshots: Snapshots, settings: Settings) -> None:
    ids = [served.publish(settings.published, _version(number), token=number) for number in (1, 2, 3)]
    assert [_number(snapshots, one) for one in [*ids, *reversed(ids)]] == [1, 2, 3, 3, 2, 1]
    assert _number(snapshots) == 3


@pytest.mark.parametrize("unknown", ["00000000-0000-4000-8000-000000000000", "../current", "a/b", ""])
def test_an_id_that_is_not_kept_reads_nothing(snapshots: Snapshots, settings: Settings, unknown: str) -> None:
    served.publish(settings.published, _version(1))
    assert _number(snapshots, unknown) is None
    assert _number(snapshots) == 1


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


def _publish_broken(settings: Settings, how: str, token: int) -> None:
    """A file is broken before the pointer names it, as a failing disk or a wrong build would leave it."""
    broken = f"broken-{token}"
    before = (settings.published / "current.json").read_bytes()
    served.publish(settings.published, _version(-1), token=token, snapshot_id=broken)
    (settings.published / "current.json").write_bytes(before)
    BREAKAGES[how](settings.published / f"served-{broken}.duckdb")
    served.point(settings.published, broken, token=token)


@pytest.mark.parametrize("how", BREAKAGES)
def test_a_broken_file_leaves_the_previous_one_served_and_says_so(
    snapshots: Snapshots, settings: Settings, how: str
) -> None:
    good = served.publish(settings.published, _version(1), token=1)
    assert _number(snapshots) == 1
    _publish_broken(settings, how, token=2)
    assert _number(snapshots) == 1
    health = snapshots.health()
    assert health.snapshot_id == good
    assert health.problem
    assert str(settings.published) not in health.problem
    served.publish(settings.published, _version(3), token=3)
    assert _number(snapshots) == 3
    assert snapshots.health().problem is None


@pytest.mark.parametrize("how", BREAKAGES)
def test_a_process_that_starts_beside_a_broken_file_serves_the_one_before(settings: Settings, how: str) -> None:
    served.publish(settings.published, _version(1), token=1)
    served.publish(settings.published, _version(2), token=2)
    served.publish(settings.published, _version(9), token=9, snapshot_id="never-published")
    served.point(settings.published, "unpublished", token=3)
    _publish_broken(settings, how, token=4)
    started = Snapshots(settings)
    assert _number(started) == 2
    assert started.health().problem
    started.close()


def test_nothing_to_fall_back_on_is_database_unavailable(snapshots: Snapshots, settings: Settings) -> None:
    settings.published.mkdir()
    (settings.published / "current.json").write_text("{not json")
    with pytest.raises(errors.ApiError) as refusal, snapshots.reader():
        pass
    assert refusal.value.code is errors.DATABASE_UNAVAILABLE
    assert refusal.value.headers["Retry-After"] == "2"
    assert snapshots.health().problem


@pytest.mark.parametrize("content", ["", "{not json", "[]", "{}", '{"file": "../../etc/passwd"}', '{"file": null}'])
def test_a_broken_pointer_leaves_the_previous_snapshot_served(
    snapshots: Snapshots, settings: Settings, content: str
) -> None:
    served.publish(settings.published, _version(1))
    assert _number(snapshots) == 1
    (settings.published / "current.json").write_text(content)
    assert _number(snapshots) == 1
    assert snapshots.health().problem


def test_a_vanished_pointer_leaves_the_previous_snapshot_served(snapshots: Snapshots, settings: Settings) -> None:
    served.publish(settings.published, _version(1))
    assert _number(snapshots) == 1
    (settings.published / "current.json").unlink()
    assert _number(snapshots) == 1
    assert snapshots.health().problem


def test_a_broken_file_is_tried_again_after_a_while(
    snapshots: Snapshots, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "RETRY_SECONDS", 0.05)
    served.publish(settings.published, _version(1), token=1)
    newest = served.publish(settings.published, _version(2), token=2)
    path = settings.published / f"served-{newest}.duckdb"
    hidden = path.rename(path.with_suffix(".away"))
    assert _number(snapshots) == 1
    hidden.rename(path)
    time.sleep(0.1)
    assert _number(snapshots) == 2
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


def test_a_flipped_bit_is_never_read_as_a_number(settings: Settings) -> None:
    served.publish(settings.published, _version(1), token=1)
    newest = served.publish(settings.published, _version(2), token=2)
    path = settings.published / f"served-{newest}.duckdb"
    _with_many_rows(path)
    true_sum = 2 + sum(number % 7 for number in range(20000))
    content = path.read_bytes()
    refusals = set()
    for place in range(100, len(content), len(content) // 12):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        started = Snapshots(settings)
        try:
            _sum(started)
        except errors.ApiError as refusal:
            refusals.add(refusal.code)
        # a block this query never reads may be damaged unnoticed; what is answered is right all the same
        assert _sum(started) == (1 if started.health().problem else true_sum)
        started.close()
    assert refusals == {errors.DATABASE_UNAVAILABLE}


def test_a_query_past_its_deadline_is_service_unavailable(settings: Settings) -> None:
    served.publish(settings.published, _version(1))
    hasty = Snapshots(settings.model_copy(update={"query_deadline_seconds": 0.3}))
    began = time.monotonic()
    with pytest.raises(errors.ApiError) as refusal, hasty.reader() as reader:
        assert reader
        reader.rows(ENDLESS)
    assert refusal.value.code is errors.SERVICE_UNAVAILABLE
    assert 0.2 < time.monotonic() - began < 5
    assert _number(hasty) == 1
    hasty.close()


def test_a_deadline_that_passes_between_two_queries_still_holds(settings: Settings) -> None:
    served.publish(settings.published, _version(1))
    hasty = Snapshots(settings.model_copy(update={"query_deadline_seconds": 0.05}))
    with pytest.raises(errors.ApiError) as refusal, hasty.reader() as reader:
        assert reader
        time.sleep(0.1)
        reader.rows("select 1")
    assert refusal.value.code is errors.SERVICE_UNAVAILABLE
    hasty.close()


def test_a_query_over_its_memory_is_service_unavailable(settings: Settings) -> None:
    served.publish(settings.published, _version(1))
    small = Snapshots(settings.model_copy(update={"served_memory_limit": "20MB"}))
    with pytest.raises(errors.ApiError) as refusal, small.reader() as reader:
        assert reader
        reader.rows("select list(range) from range(20000000)")
    assert refusal.value.code is errors.SERVICE_UNAVAILABLE
    assert _number(small) == 1
    small.close()


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
def test_the_serving_connection_can_only_read_its_tables(
    snapshots: Snapshots, settings: Settings, forbidden: str
) -> None:
    served.publish(settings.published, _version(1))
    with pytest.raises(duckdb.Error), snapshots.reader() as reader:
        assert reader
        reader.rows(forbidden)


def test_a_forked_process_opens_the_snapshot_for_itself(snapshots: Snapshots, settings: Settings) -> None:
    served.publish(settings.published, _version(5))
    assert _number(snapshots) == 5
    with warnings.catch_warnings():
        # newer Pythons warn of a fork beside threads, which is what is tried here
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        # a deadlock in the child ends as a failure; and the child must not run pytest's own teardown
        signal.alarm(20)
        os._exit(0 if _number(snapshots) == 5 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert _number(snapshots) == 5


def test_a_publish_loop_under_concurrent_readers_shows_no_error_and_no_mixed_version(
    snapshots: Snapshots, settings: Settings
) -> None:
    served.publish(settings.published, _version(1), token=1)
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
    for number in range(2, 10):
        ids.append(served.publish(settings.published, _version(number), token=number))
        for old in ids[:-3]:
            (settings.published / f"served-{old}.duckdb").unlink(missing_ok=True)
    done.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert {(cash, 3 * cash) for cash, _ in seen} == set(seen)
    assert len({cash for cash, _ in seen}) > 2


def test_facts_of_a_profile_are_looked_up_once_per_snapshot(snapshots: Snapshots, settings: Settings) -> None:
    profile = {"profile_key": 7, "profile_id": "p", "currency": "USD", "currency_digits": 2, "settings_version": "one"}
    served.publish(settings.published, {"profiles": [profile]}, token=1)
    with snapshots.reader() as reader:
        assert reader
        first = profile_facts(reader, "p")
        assert first
        assert (first.profile_key, first.settings_version) == (7, "one")
        assert profile_facts(reader, "nobody") is None
    with snapshots.reader() as reader:
        assert reader
        assert profile_facts(reader, "p") is first
    served.publish(settings.published, {"profiles": [{**profile, "settings_version": "two"}]}, token=2)
    with snapshots.reader() as reader:
        assert reader
        second = profile_facts(reader, "p")
        assert second
        assert second.settings_version == "two"


def test_the_factory_makes_every_served_table(snapshots: Snapshots, settings: Settings) -> None:
    served.publish(settings.published, {})
    with snapshots.reader() as reader:
        assert reader
        assert {name for (name,) in reader.rows("select table_name from duckdb_tables()")} == set(TABLES)
