"""Chunks: no record is lost or moved, and none holds more than memory does."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from orchestration import chunks
from orchestration.chunks import MOST_RECORDS, MOST_TEXT

HALF = "n" * (MOST_TEXT // 2)


def sizes(*records: dict[str, Any]) -> list[int]:
    made = list(chunks.chunks(records))
    assert [id(one) for one in itertools.chain(*made)] == [id(one) for one in records]
    return [len(chunk) for chunk in made]


def test_small_records_come_by_number() -> None:
    assert sizes() == []
    assert sizes(*({"a": "1", "b": None} for _ in range(MOST_RECORDS + 1))) == [MOST_RECORDS, 1]


@pytest.mark.parametrize(
    "large",
    [
        HALF,
        HALF.encode(),
        [HALF],
        {"b": [HALF]},
        {HALF: 1},
        [("key", HALF)],
        [None] * (MOST_TEXT // 2 // chunks.OF_A_NUMBER),
    ],
    ids=["text", "bytes", "list", "object", "name", "map", "numbers"],
)
def test_large_records_come_by_what_they_hold(large: Any) -> None:
    assert sizes(*({"a": 1, "x_note": large} for _ in range(5))) == [2, 2, 1]


def test_a_record_may_be_nested_deeper_than_python_calls_itself() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert sizes({"x_note": deep}) == [1]
    # taken apart from the outside, for Python would do it from within
    while deep:
        deep = deep.pop()
