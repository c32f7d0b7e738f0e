"""What a JSON body may hold before any schema looks at it."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
import pytest
from flask import Flask

from api import errors
from api.arguments import ArgumentsParser, parse_json


@pytest.mark.parametrize("number", [str(2**63), str(-(2**63) - 1), "9" * 5_000])
def test_a_whole_number_that_no_column_holds_is_refused(number: str) -> None:
    with pytest.raises(errors.ApiError) as refused:
        parse_json(f'{{"n": {number}}}'.encode())
    assert refused.value.code is errors.INVALID_REQUEST


def test_the_widest_whole_numbers_are_read_as_they_are() -> None:
    assert parse_json(f"[{2**63 - 1}, {-(2**63)}]".encode()) == [2**63 - 1, -(2**63)]


def test_whoever_keeps_wider_ones_says_how() -> None:
    assert parse_json(f"[{2**70}]".encode(), parse_int=int) == [2**70]


@pytest.mark.parametrize("parse_int", [None, int])
def test_a_number_of_more_digits_than_python_reads_is_told_to_whoever_sent_it(parse_int: type[int] | None) -> None:
    with pytest.raises(errors.ApiError) as refused:
        parse_json(b"[" + b"9" * 5_000 + b"]", parse_int=parse_int)
    assert refused.value.message == "The body is not valid JSON: a number is too large."


class Seen(ma.fields.String):
    """A text that is counted when it is read."""

    count = 0

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        Seen.count += 1
        return super()._deserialize(value, *args, **kwargs)


class Within(ma.Schema):
    names = ma.fields.List(Seen(), validate=ma.validate.Length(1, 2, error="holds 1 to 2 names"))


class Body(ma.Schema):
    names = ma.fields.List(Seen(), validate=ma.validate.Length(max=2, error="holds at most 2 names"))
    filters = ma.fields.Nested(Within, data_key="filter")


@pytest.mark.parametrize(
    ("body", "told", "read"),
    [
        ({"names": [1] * 3}, "names: holds at most 2 names", 0),
        ({"filter": {"names": [1] * 3}}, "filter.names: holds 1 to 2 names", 0),
        ({"names": ["a", 1]}, "names[1]: Not a valid string.", 2),
        ({"names": "abc"}, "names: Not a valid list.", 0),
        ({"filter": [{"names": [1] * 3}]}, "filter: Invalid input type.", 0),
        ({"filter": {"names": []}}, "filter.names: holds 1 to 2 names", 0),
    ],
)
def test_a_list_that_is_too_long_is_refused_before_its_items_are_read(body: Any, told: str, read: int) -> None:
    # a megabyte of items that were nothing took a worker two seconds
    Seen.count = 0
    with Flask(__name__).test_request_context(json=body) as context, pytest.raises(errors.ApiError) as refused:
        ArgumentsParser().parse(Body, context.request, location="json")
    assert (refused.value.message, Seen.count) == (told, read)
