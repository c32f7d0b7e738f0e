"""A signed body is JSON or a ValueError, and a half of a character in one of its texts is no reason to refuse it."""

from __future__ import annotations

from typing import Any

import pytest

from api.hooks.bodies import parsed


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (rb'{"id": 9007199254740993, "note": "a\ud83e"}', {"id": 9007199254740993, "note": "a\ufffd"}),
        (rb'{"note": "a\u0000b\ud83e\udde5"}', {"note": "a\ufffdb\N{COAT}"}),
        (b'{"note": "\xf0\x9f\xa7\xa5"}', {"note": "\N{COAT}"}),
    ],
)
def test_what_is_read(body: bytes, read: Any) -> None:
    assert parsed(body) == read


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"{", rb'{"a": "\ud83e"', b'{"a": NaN, "b": "\\ud83e"}', b'"\xff"', b"[" * 100_000 + b'"\\ud83e"'],
    ids=["nothing", "a page", "cut", "cut behind a half", "NaN beside a half", "no UTF-8", "too deep"],
)
def test_what_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        parsed(body)
