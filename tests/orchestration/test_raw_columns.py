"""What pages tell of landed files is what lies in them."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from data_contracts.contract import landed
from orchestration.batch_file import INSTANT, raw_schema
from orchestration.raw_columns import raw_columns

KEPT = {"string": pa.string(), "bigint": pa.int64(), "boolean": pa.bool_(), "date": pa.date32(), "timestamp": INSTANT}


def kept(kind: str) -> pa.DataType:
    """How a type of a contract is kept in a landed file."""
    sized = re.fullmatch(r"decimal\((\d+),(\d+)\)", kind)
    return pa.decimal128(int(sized[1]), int(sized[2])) if sized else KEPT[kind]


@pytest.mark.parametrize("name", sorted(landed()))
def test_every_column_of_a_landed_file_is_told_in_its_place_with_its_type(name: str) -> None:
    told = raw_columns(landed()[name])
    assert [(one.name, kept(one.type)) for one in told] == [(one.name, one.type) for one in raw_schema(landed()[name])]
    assert [one.name for one in told if not one.description] == []


def test_the_words_that_a_column_may_hold_are_told_once() -> None:
    told = {one.name: one.description for one in raw_columns(landed()["touches"])}
    assert told["channel"] == "Where the person arrived. One of chatapp, social, pagechat, web, other."
    told = {one.name: one.description for one in raw_columns(landed()["goals"])}
    assert told["revenue_type"].count("pipeline") == 1
