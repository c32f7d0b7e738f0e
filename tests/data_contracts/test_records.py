"""The members of JSON objects."""

from __future__ import annotations

import pytest

from data_contracts.records import RepeatedKeyError, members


def test_a_key_that_is_there_twice_among_many_is_named_in_one_pass() -> None:
    # with a pass for each key, this would outlast the time that a test has
    pairs = [(f"key {at}", at) for at in range(200_000)]
    assert members(pairs) == dict(pairs)
    with pytest.raises(RepeatedKeyError, match="'key 199999' is there twice"):
        members([*pairs, pairs[-1]])
