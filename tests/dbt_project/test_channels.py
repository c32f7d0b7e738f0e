"""Channels and origins of touches as numbers, each of which gets its word back; and what says that a visit was paid."""

from __future__ import annotations

import ast

import duckdb
import pytest

from data_contracts.contract import inbound
from data_contracts.rules import AD_CLICK_IDS, PAID_MEDIUMS
from tests.dbt_project.macros import render

LISTS = {"channel": "touch_channels", "origin": "touch_origins"}


def _words(column: str) -> list[str]:
    found: list[str] = ast.literal_eval(render("channels.sql", LISTS[column]))
    return found


@pytest.mark.parametrize("column", LISTS)
def test_every_word_that_may_come_in_has_a_number(column: str) -> None:
    """A touch of a channel that is not in the list would be counted in none."""
    assert sorted(inbound()["touches"].column[column].allowed) == _words(column)


@pytest.mark.parametrize("column", LISTS)
def test_a_number_leads_back_to_its_word_and_0_to_all(column: str) -> None:
    words = _words(column)
    number = render("channels.sql", "number_of", "word", words)
    word = render("channels.sql", "word_of", number, words)
    with duckdb.connect() as connection:
        rows = connection.execute(f"select word, {number}, {word} from (select unnest(?) as word)", [words]).fetchall()
        assert rows == [(one, place, one) for place, one in enumerate(words, 1)]
        none = render("channels.sql", "word_of", "0", words)
        assert connection.execute(f"select {none}").fetchall() == [("all",)]


def test_models_take_for_paid_what_the_judge_of_inbound_rows_does() -> None:
    """Of a touch the judge fills in `is_paid`; of a record's own parameters the models find it out."""
    assert set(ast.literal_eval(render("touches.sql", "paid_media"))) == PAID_MEDIUMS
    platform = render("touches.sql", "click_platform", "kind")
    kinds = [*AD_CLICK_IDS, "li_fat_id", "msclkid"]
    with duckdb.connect() as connection:
        rows = connection.execute(f"select kind from (select unnest(?) as kind) where {platform} is not null", [kinds])
        assert {kind for (kind,) in rows.fetchall()} == AD_CLICK_IDS
