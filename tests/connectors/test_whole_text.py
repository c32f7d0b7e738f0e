"""Halves of surrogate pairs and NULs in what a provider wrote are replaced, and nothing else is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.transport import parsed
from connectors.whole_text import REPLACEMENT

TEXTS = st.text(st.characters(exclude_categories=()) | st.sampled_from("\ud83e\udde5\x00\\u"), max_size=8)
VALUES = st.recursive(TEXTS | st.integers() | st.none(), lambda one: st.lists(one) | st.dictionaries(TEXTS, one))


def mended(text: str) -> str:
    """A text by its UTF-16 form, which tells pairs from halves."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined.replace("\x00", REPLACEMENT)


def of_each(value: Any) -> Any:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [of_each(one) for one in value]
    return {mended(name): of_each(one) for name, one in value.items()} if isinstance(value, dict) else value


@given(VALUES)
def test_what_is_escaped_and_what_is_not_comes_out_the_same_and_fit_for_any_database(value: Any) -> None:
    escaped = parsed(200, {}, json.dumps({"data": value}).encode()).body
    assert escaped == {"data": of_each(value)}
    json.dumps(escaped, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb'"\ud83e\udde5"', "\N{COAT}"),
        (rb'"\ud83e"', REPLACEMENT),
        (rb'"\udde5 shell"', f"{REPLACEMENT} shell"),
        (rb'"\\ud83e"', r"\ud83e"),
        (rb'"a\u0000b"', f"a{REPLACEMENT}b"),
        (b'"a\xed\xa0\xbe"', f"a{REPLACEMENT}"),
        ('"\N{COAT}"'.encode(), "\N{COAT}"),
    ],
)
def test_a_text_as_it_is_written(written: bytes, read: str) -> None:
    assert parsed(200, {}, written).body == read
