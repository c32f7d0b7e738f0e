"""The statements of docs/sql.md answer on a published snapshot, and add up to the figures that are served."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from touchledger.settings import Settings

GUIDE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
QUESTIONS = dict(
    re.findall(r"\*\*([^*]+?)[.]?\*\*.*?```sql\n(.*?)```", GUIDE.partition("## Ten questions")[2], re.DOTALL)
)


@pytest.fixture(scope="module")
def snapshot(published: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    """The snapshot, opened by what the guide prints."""
    (opening,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, duckdb.DuckDBPyConnection] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHLEDGER_HOME", str(published.home))
        patch.chdir(published.home)
        exec(opening, names)
    with names["snapshot"] as connection:
        yield connection


def rows(snapshot: duckdb.DuckDBPyConnection, sql: str) -> set[tuple[object, ...]]:
    found = set(snapshot.execute(sql).fetchall())
    assert found
    return found


def test_there_are_ten_and_each_answers(snapshot: duckdb.DuckDBPyConnection) -> None:
    assert len(QUESTIONS) == 10
    for question in QUESTIONS.values():
        assert snapshot.execute(question).fetchall()


TOTAL = "select profile_key, sum(cash_minor) from outcomes_daily group by all having sum(cash_minor) > 0"


def of(begins: str) -> str:
    (question,) = [text for title, text in QUESTIONS.items() if title.startswith(begins)]
    return f"({question})"


def test_what_is_credited_and_what_is_left_is_the_whole_under_each_model(snapshot: duckdb.DuckDBPyConnection) -> None:
    whole = rows(snapshot, f"select * from ({TOTAL}) cross join (select distinct model from unattributed_daily)")
    credited = f"select profile_key, model, cash_minor from {of('Return')}"
    left = "select profile_key, model, cash_minor from unattributed_daily where level = 'campaign'"
    both = f"from ({credited} union all {left}) group by profile_key, model having sum(cash_minor) > 0"
    assert rows(snapshot, f"select profile_key, sum(cash_minor), model {both}") == whole


@pytest.mark.parametrize("begins", ["New against", "Days of the week"])
def test_payments_are_all_there_once(snapshot: duckdb.DuckDBPyConnection, begins: str) -> None:
    told = f"from {of(begins)} group by all"
    assert rows(snapshot, f"select profile_key, sum(cash_minor) {told} having sum(cash_minor) > 0") == rows(
        snapshot, TOTAL
    )
    counted = "select profile_key, count(*) from conversions where is_cash group by all"
    assert rows(snapshot, f"select profile_key, sum(payments) {told} having sum(payments) > 0") == rows(
        snapshot, counted
    )


def test_refunds_and_what_is_left_are_what_was_captured(snapshot: duckdb.DuckDBPyConnection) -> None:
    told = f"select profile_key, sum(captured_minor - refunded_minor) from {of('What refunds take')} group by all"
    assert rows(snapshot, f"{told} having sum(captured_minor - refunded_minor) > 0") == rows(snapshot, TOTAL)


def test_a_campaign_closes_what_it_is_credited_with_under_last_touch(snapshot: duckdb.DuckDBPyConnection) -> None:
    credited = """
        select profile_key, platform, platform_id, count(*) from conversions
        inner join entities using (profile_key)
        where cash_minor is not null and level = 'campaign' and last_touch_campaign = entity_key group by all
    """
    told = f"select profile_key, platform, platform_id, closed from {of('Which campaigns')} where closed > 0"
    assert rows(snapshot, told) == rows(snapshot, credited)
