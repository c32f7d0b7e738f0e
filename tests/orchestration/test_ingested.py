"""Accepted records reach the lake once each, wherever a landing is cut short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from api.db import engine_for, transaction
from api.v1.events.ingest import accept
from orchestration import ingested
from orchestration.ingested import land_ingested, waiting
from orchestration.lake import Lake
from tests.data_contracts.records import record
from tests.fixtures.statements import statements
from tests.orchestration.test_importer import PROFILE, with_profile


@pytest.fixture
def lake(home: Path) -> Lake:
    made = Lake(home / "lake")
    made.prepare()
    return made


def accepted(url: str, *keys: str, dataset: str = "touches", key: str = "touch_key") -> None:
    with transaction(url) as session:
        records = [record(dataset, **{key: value}) for value in keys]
        assert accept(session, profile_id=PROFILE, dataset=dataset, records=records).accepted == len(keys)


def landed_keys(lake: Lake) -> list[str]:
    found = duckdb.execute(
        "select touch_key from read_parquet(?, union_by_name = true) order by _seq, _line",
        [f"{lake.raw}/touches/**/*.parquet"],
    )
    return [key for (key,) in found.fetchall()]


def test_accepted_records_land_once_in_the_order_they_came(database_url: str, lake: Lake) -> None:
    with_profile(database_url)
    accepted(database_url, "b", "a")
    accepted(database_url, "c1", dataset="conversions", key="conversion_key")
    assert waiting(database_url) == 3
    first = land_ingested(database_url, lake)
    assert {(landing.dataset, landing.rows_loaded) for landing in first} == {("touches", 2), ("conversions", 1)}
    assert (waiting(database_url), land_ingested(database_url, lake)) == (0, [])
    accepted(database_url, "c")
    land_ingested(database_url, lake)
    assert landed_keys(lake) == ["b", "a", "c"]


def test_a_landing_that_was_cut_short_is_finished_with_the_same_records(sqlite_url: str, lake: Lake) -> None:
    with_profile(sqlite_url)
    accepted(sqlite_url, "a", "b")
    ingested._assign(sqlite_url)
    accepted(sqlite_url, "c")
    landings = land_ingested(sqlite_url, lake)
    assert [landing.rows_loaded for landing in landings] == [2, 1]
    assert landed_keys(lake) == ["a", "b", "c"]


def test_a_large_backlog_lands_in_several_batches(sqlite_url: str, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    with_profile(sqlite_url)
    monkeypatch.setattr(ingested, "LARGEST_BATCH", 2)
    accepted(sqlite_url, *"abcde")
    assert [landing.rows_loaded for landing in land_ingested(sqlite_url, lake)] == [2, 2, 1]
    assert landed_keys(lake) == list("abcde")


def test_values_keep_their_form_on_the_way(sqlite_url: str, lake: Lake) -> None:
    with_profile(sqlite_url)
    given: dict[str, Any] = record("touches", person_key="Zo\u00eb", is_paid=True, x_own={"a": [1]})
    with transaction(sqlite_url) as session:
        accept(session, profile_id=PROFILE, dataset="touches", records=[given])
    (landing,) = land_ingested(sqlite_url, lake)
    row = duckdb.execute(
        "select person_key, is_paid, _extra, _source from read_parquet(?)", [str(landing.path)]
    ).fetchone()
    assert row == ("Zo\u00eb", True, '{"x_own": {"a": [1]}}', "app")


def test_which_batches_there_are_is_read_off_an_index_and_not_off_all_records(sqlite_url: str, lake: Lake) -> None:
    engine = engine_for(sqlite_url)
    with statements(engine) as run:
        land_ingested(sqlite_url, lake)
    (asked,) = (one for one in run if "DISTINCT" in one[0] and "IS NOT NULL" in one[0])
    with engine.connect() as connection:
        plan = [step.detail for step in connection.exec_driver_sql(f"explain query plan {asked[0]}", asked[1])]
    assert len(plan) == 1 and "COVERING INDEX ix_ingested_records_batch" in plan[0]
