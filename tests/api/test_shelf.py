"""What is kept in memory of a snapshot stays within its limit, and two busy things never push each other out."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from api import shelf
from api.shelf import BESIDE, MEBIBYTE, Shelf


@dataclass(frozen=True)
class Block:
    size: int = MEBIBYTE // 2 - 1 - BESIDE


def block(_: None) -> Block:
    return Block()


def test_a_second_look_finds_what_the_first_one_read() -> None:
    kept, reads = Shelf(1), []
    for _ in range(2):
        kept.get("place", lambda _: reads.append(1) or Block(), None)  # type: ignore[func-returns-value]
    assert len(reads) == 1


def test_what_is_in_use_is_not_put_away_for_something_else() -> None:
    kept = Shelf(1)
    for place in "abc":
        kept.get(place, block, None)
    assert [kept.find(place) is not None for place in "abc"] == [True, True, False]


def test_what_nobody_used_lately_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "BUSY_SECONDS", -1.0)
    kept = Shelf(1)
    for place in "ab":
        kept.get(place, block, None)
    kept.find("a")
    kept.get("c", block, None)
    assert [kept.find(place) is not None for place in "abc"] == [True, False, True]
    for place in "defg":
        kept.get(place, block, None)
    assert [kept.find(place) is not None for place in "acdefg"] == [False, False, False, False, True, True]


def test_a_shelf_without_room_keeps_nothing() -> None:
    kept = Shelf(0)
    kept.get("place", Block, 1)
    assert kept.find("place") is None


def test_what_several_threads_ask_for_at_once_is_read_by_one_of_them() -> None:
    kept, reads = Shelf(1), []

    def read(_: None) -> Block:
        reads.append(1)
        time.sleep(0.05)
        return Block()

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: kept.get("place", read, None), range(4)))
    assert len(reads) == 1
    assert all(one is found[0] for one in found)


def test_a_read_that_fails_leaves_the_place_to_the_next() -> None:
    kept = Shelf(1)
    with pytest.raises(ZeroDivisionError):
        kept.get("place", lambda n: Block(1 // n), 0)
    assert kept.get("place", Block, 10).size == 10


def test_what_was_used_of_one_shelf_is_read_for_the_next_as_of_when_it_was_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, after = Shelf(1), Shelf(1)
    for place, size in zip("abc", (1, 2, 3), strict=True):
        before.get(place, Block, size)
    before.find("a")
    used = before.used_within(60)
    assert [place for place, _ in used] == ["a", "c", "b"]
    assert before.used_within(-1) == []
    for place, like in used:
        after.read_ahead(place, like, like.thing.size * 10)
    assert [after.used_within(60)[n][1].used_at for n in range(3)] == [held.used_at for _, held in used]
    assert [getattr(after.find(place), "size", None) for place in "abc"] == [10, 20, 30]


def test_what_stands_there_already_is_not_read_ahead() -> None:
    kept, other = Shelf(1), Shelf(1)
    kept.get("place", Block, 5)
    other.get("place", Block, 6)
    ((place, like),) = other.used_within(60)
    kept.read_ahead(place, like, 7)
    found = kept.find("place")
    assert found is not None and found.size == 5


def test_of_what_fits_no_more_the_longest_unused_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "BUSY_SECONDS", -1.0)
    before, after = Shelf(1), Shelf(1)
    for place in "ab":
        before.get(place, block, None)
    for place, like in before.used_within(60):
        after.read_ahead(place, like, None)
    after.get("c", block, None)
    assert [after.find(place) is not None for place in "abc"] == [False, True, True]


def test_things_that_hold_nothing_take_room_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "BUSY_SECONDS", -1.0)
    kept = Shelf(1)
    for place in range(1_000):
        kept.get(place, lambda _: Block(0), None)
    assert sum(kept.find(place) is not None for place in range(1_000)) == MEBIBYTE // BESIDE
    assert not kept._reading, "a lock is left for each place that was ever asked for"


def test_what_is_put_away_is_read_again_and_leaves_its_room() -> None:
    kept = Shelf(1)
    for _ in range(3):
        kept.get("place", block, None)
        kept.put_away("place")
    kept.put_away("elsewhere")
    assert kept.find("place") is None
    assert kept.has_room(MEBIBYTE - 1)


def test_who_comes_while_another_reads_for_the_second_time_waits_for_that_one() -> None:
    kept, reading, go_on = Shelf(0), threading.Semaphore(0), threading.Semaphore(0)
    at_once, most = 0, []

    def read(_: None) -> Block:
        nonlocal at_once
        at_once += 1
        most.append(at_once)
        reading.release()
        go_on.acquire()
        at_once -= 1
        return Block()

    with ThreadPoolExecutor(3) as pool:
        # without room each has to read it, the second as soon as the first is done
        asked = [pool.submit(kept.get, "place", read, None) for _ in range(2)]
        reading.acquire()
        go_on.release()
        reading.acquire()
        asked.append(pool.submit(kept.get, "place", read, None))
        assert not reading.acquire(timeout=0.3)
        go_on.release(2)
        assert [one.result().size for one in asked] == [Block().size] * 3
    assert most == [1, 1, 1]


def test_one_that_fails_to_read_leaves_nothing_behind() -> None:
    def fail(_: None) -> Block:
        raise OSError

    kept = Shelf(1)
    for place in range(3):
        with pytest.raises(OSError):
            kept.get(place, fail, None)
    assert not kept._reading
