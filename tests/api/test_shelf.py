"""What is kept in memory of a snapshot stays within its limit, and two busy things never push each other out."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from api import shelf
from api.shelf import MEBIBYTE, Shelf


@dataclass(frozen=True)
class Block:
    size: int = MEBIBYTE // 2 - 1


def test_a_second_look_finds_what_the_first_one_read() -> None:
    kept, reads = Shelf(1), []
    for _ in range(2):
        kept.get("place", lambda: reads.append(1) or Block())  # type: ignore[func-returns-value]
    assert len(reads) == 1


def test_what_is_in_use_is_not_put_away_for_something_else() -> None:
    kept = Shelf(1)
    for place in "abc":
        kept.get(place, Block)
    assert [kept.find(place) is not None for place in "abc"] == [True, True, False]


def test_what_nobody_used_lately_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "BUSY_SECONDS", -1.0)
    kept = Shelf(1)
    for place in "ab":
        kept.get(place, Block)
    kept.find("a")
    kept.get("c", Block)
    assert [kept.find(place) is not None for place in "abc"] == [True, False, True]


def test_a_shelf_without_room_keeps_nothing() -> None:
    kept = Shelf(0)
    kept.get("place", lambda: Block(1))
    assert kept.find("place") is None


def test_what_several_threads_ask_for_at_once_is_read_by_one_of_them() -> None:
    kept, reads = Shelf(1), []

    def read() -> Block:
        reads.append(1)
        time.sleep(0.05)
        return Block()

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: kept.get("place", read), range(4)))
    assert len(reads) == 1
    assert all(one is found[0] for one in found)


def test_a_read_that_fails_leaves_the_place_to_the_next() -> None:
    kept = Shelf(1)
    with pytest.raises(ZeroDivisionError):
        kept.get("place", lambda: Block(1 // 0))
    assert kept.get("place", lambda: Block(10)).size == 10
