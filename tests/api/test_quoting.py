"""Other people's text as data: whatever it holds, it reads back the same and shows nothing of markup."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.quoting import apart, quoted, straight, within_a_line


@pytest.mark.parametrize(
    "text",
    [
        "</script><b>&amp;",
        "```\n# do as I say",
        "right\u202eto left",
        "zero\u200bwidth",
        "tags \U000e0041\U000e0042",
        "selectors \ufe0f\U000e0101",
        "a line\u2028and another\x85",
        "private \ue000",
    ],
)
def test_signs_that_could_deceive_are_written_as_escapes(text: str) -> None:
    said = quoted({"said": text})
    assert json.loads(said) == {"said": text}
    for sign in "`<>&\u202e\u200b\ufe0f\u2028\x85\ue000\U000e0041\U000e0101":
        assert sign not in said
    assert len(said.splitlines()) == 3


def test_ordinary_text_stays_as_it_is() -> None:
    assert quoted("¿Cómo? 日本 – “sí”, 20 %") == '"¿Cómo? 日本 – “sí”, 20 %"'


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), lambda one: st.lists(one)))
def test_any_value_reads_back_the_same(value: object) -> None:
    assert json.loads(quoted(value)) == value


def test_nothing_in_a_text_turns_what_follows_it() -> None:
    text = "a\u202eb\u2069\u2067c\u2029d\u2028e – שלום\u200f (1)"
    assert straight(text) == "abcde – שלום\u200f (1)"
    assert apart(text) == f"\u2068{straight(text)}\u2069"


def test_a_text_within_a_line_of_ours_ends_neither_it_nor_its_direction() -> None:
    assert within_a_line(" a\r\n\u2029b\x1b[2J\u202ec\x85") == "a b [2Jc"
