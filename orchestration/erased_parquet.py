"""Rows of a Parquet file without an erased person, where only the cells that tell of the person are made anew."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from api.erased import Person
from orchestration.readers import values_of


def renamed_part(part: pa.RecordBatch, person: Person, known: Collection[str]) -> tuple[list[pa.Array], bool]:
    """The columns of some rows without the person, and whether any differs; `known` are those of the set's contract.

    What is not the person's stays as it is, also what Python cannot hold.
    """
    names = part.schema.names
    rows = [dict(zip(names, row, strict=True)) for row in zip(*map(values_of, part.columns), strict=True)]
    after = [person.renamed(row, known) for row in rows]
    fresh, is_changed = [], False
    for name, column in zip(names, part.columns, strict=True):
        # what a row keeps is the very same object, also where that equals nothing, as a number that is none
        places = [
            at for at, row in enumerate(rows) if after[at][name] is not row[name] and after[at][name] != row[name]
        ]
        if places:
            is_changed = True
            told = pa.array([after[at][name] for at in places], column.type)
            taken = list(range(len(column)))
            for place, at in enumerate(places):
                taken[at] = len(column) + place
            column = pa.concat_arrays([column, told]).take(pa.array(taken, pa.int64()))
        fresh.append(column)
    return fresh, is_changed
