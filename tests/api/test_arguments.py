"""What a JSON body may hold before any schema looks at it."""

from __future__ import annotations

import pytest

from api import errors
from api.arguments import parse_json


@pytest.mark.parametrize("number", [str(2**63), str(-(2**63) - 1), "9" * 5_000])
def test_a_whole_number_that_no_column_holds_is_refused(number: str) -> None:
    with pytest.raises(errors.ApiError) as refused:
        parse_json(f'{{"n": {number}}}'.encode())
    assert refused.value.code is errors.INVALID_REQUEST


def test_the_widest_whole_numbers_are_read_as_they_are() -> None:
    assert parse_json(f"[{2**63 - 1}, {-(2**63)}]".encode()) == [2**63 - 1, -(2**63)]


def test_whoever_keeps_wider_ones_says_how() -> None:
    assert parse_json(f"[{2**70}]".encode(), parse_int=int) == [2**70]
