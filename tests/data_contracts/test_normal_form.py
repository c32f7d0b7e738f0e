"""NFC as Python gives it, and quickly also where a letter has very many marks."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_contracts.normal_form import MANY, in_order, nfc

# of several classes and none, with some that are two in the normal form or that compose
SIGNS = "aeés 가각ẹ\u0301\u0323\u0327\u0344\u0345\u0308\u3099\uff9e\u05b0\u0f73\U0001d165\u0340"
BELOW_AND_ABOVE = "\u0301\u0323"


@given(st.text(SIGNS, max_size=6), st.text(SIGNS[8:], min_size=MANY, max_size=3 * MANY), st.text(SIGNS, max_size=6))
def test_it_is_the_form_that_python_gives(before: str, marks: str, after: str) -> None:
    text = before + marks + after
    assert nfc(text) == unicodedata.normalize("NFC", text)
    assert unicodedata.normalize("NFD", in_order(text)) == unicodedata.normalize("NFD", text)


@given(st.text(max_size=200))
def test_other_texts_are_as_they_were(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)


@pytest.mark.timeout(20)
def test_a_letter_with_very_many_marks_takes_no_time() -> None:
    text = "a" + BELOW_AND_ABOVE * 250_000
    assert nfc(text) == "ạ" + "\u0323" * 249_999 + "\u0301" * 250_000
