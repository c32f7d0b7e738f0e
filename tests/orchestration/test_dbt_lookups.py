"""What dbt looks up is what it finds without us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.duckdb.impl import DuckDBAdapter
from dbt.adapters.duckdb.relation import DuckDBRelation
from dbt.adapters.exceptions.compilation import ApproximateMatchError
from dbt_common import behavior_flags
from dbt_common.behavior_flags import BehaviorFlagRendered
from dbt_common.clients import agate_helper
from dbt_common.events import functions

from orchestration.dbt_lookups import look_up_at_once, named

NAMES = ("touches", "Touches", '"touches"', "touches_2", "ouches", None)
QUOTED = {"database": True, "schema": True, "identifier": True}
UNQUOTED = dict.fromkeys(QUOTED, False)


@pytest.fixture
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """dbt as it was before `look_up_at_once`, again after the test."""
    for owner, name in (
        (functions, "env_secrets"), (BaseAdapter, "_make_match"), (agate_helper, "empty_table"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(BehaviorFlagRendered, "_default_source", staticmethod(BehaviorFlagRendered._default_source))
    yield


def _relation(name: str | None, *, made: bool) -> DuckDBRelation:
    return DuckDBRelation.create(
        database="warehouse",
        schema="marts",
        identifier=name,
        dbt_created=made,
        quote_policy=UNQUOTED if made else QUOTED,
    )


def _adapter(quoting: dict[str, bool]) -> DuckDBAdapter:
    """Of an adapter, what the search asks."""
    adapter = DuckDBAdapter.__new__(DuckDBAdapter)
    adapter.config = SimpleNamespace(quoting=quoting)
    return adapter


def _outcome(asked: Callable[[], list[Any]]) -> object:
    try:
        return asked()
    except ApproximateMatchError as error:
        return str(error)


@pytest.mark.usefixtures("as_it_was")
def test_the_relations_that_match_are_those_of_the_whole_search() -> None:
    relations = [_relation(name, made=made) for name in NAMES for made in (True, False)]

    def search() -> list[object]:
        return [
            _outcome(partial(adapter._make_match, known, "warehouse", schema, name))
            for quoting in (QUOTED, UNQUOTED)
            for adapter in (_adapter(quoting),)
            for known in (relations, *([one] for one in relations), [])
            for schema in ("marts", "Marts", "staging")
            for name in NAMES
        ]

    before = search()
    look_up_at_once()
    assert search() == before
    assert {len(one) for one in before if isinstance(one, list)} > {0, 1, 2}
    assert any(isinstance(one, str) for one in before)


def test_only_relations_of_that_name_are_compared() -> None:
    relations = [_relation(name, made=True) for name in NAMES]
    assert [one.identifier for one in named(relations, "TOUCHES")] == ["touches", "Touches", '"touches"']


@pytest.mark.usefixtures("as_it_was")
def test_a_secret_of_the_environment_stays_out_of_dbts_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_ENV_SECRET_TOKEN", "hush")
    look_up_at_once()
    assert functions.env_scrubber("it is hush now") == "it is ***** now"


@pytest.mark.usefixtures("as_it_was")
def test_a_flag_of_behaviour_names_the_module_that_made_it() -> None:
    flag: Any = {"name": "of_a_test", "default": True, "description": "none"}

    def source() -> str:
        return str(behavior_flags.Behavior([flag], {})._flags[0]._behavior_change_event.flag_source)

    assert source() == __name__
    look_up_at_once()
    assert source() == __name__


@pytest.mark.usefixtures("as_it_was")
def test_an_empty_answer_is_one_table_that_nobody_can_change() -> None:
    look_up_at_once()
    empty = agate_helper.empty_table()
    assert empty is agate_helper.empty_table()
    assert (len(empty.rows), len(empty.columns)) == (0, 0)
    with pytest.raises(TypeError):
        empty.rows[0] = ()
