"""The arrays that everything here is made of, and what is done to groups of their rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def grouped(code: Ints) -> Iterator[Ints]:
    """Row numbers of each code, codes ascending and rows in their order."""
    order = np.argsort(code, kind="stable")
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(code[order])) + 1)


def ranks(value: Floats, group: Ints) -> Floats:
    """Place of each row inside its group, between 0 and 1: (mean rank - 1/2) / n, so that ties are alike."""
    place = np.empty(len(value))
    for rows in grouped(group):
        ordered = np.sort(value[rows])
        below = np.searchsorted(ordered, value[rows], side="left")
        upto = np.searchsorted(ordered, value[rows], side="right")
        place[rows] = (below + upto) / 2 / len(rows)
    return place


def sizes(group: Ints) -> Ints:
    """How many rows the group of each row has."""
    _, code, count = np.unique(group, return_inverse=True, return_counts=True)
    return np.asarray(count[code], dtype=np.int64)
