"""Records taken a chunk at a time: as many as are quickly judged together, and no more than memory holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MOST_RECORDS = 20_000
# characters and bytes of their values; the lake holds them a few times over while it judges and writes
MOST_TEXT = 2**26
OF_A_NUMBER = 8

Record = Mapping[str, Any]


def chunks(records: Iterable[Record]) -> Iterator[list[Record]]:
    """The records in lists, in their order; the one that makes a list too large is its last."""
    chunk: list[Record] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += _size(record)
        if len(chunk) >= MOST_RECORDS or size >= MOST_TEXT:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _size(record: Record) -> int:
    """Characters of the texts of a record, at any depth."""
    size, left = 0, [*record.values()]
    for value in left:
        kind = type(value)
        if kind is str or kind is bytes:
            size += len(value)
        elif kind is dict:
            # appended to while it is gone through: nested deeper than Python calls itself
            left += value
            left += value.values()
        elif kind is list or kind is tuple:
            left += value
        else:
            size += OF_A_NUMBER
    return size
