"""The percentile of one ad against exact probabilities, and how it moves with the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations

import duckdb
import pytest
from scipy.special import betainc

from tests.dbt_project.macros import render
from tests.factories.served import insert_rows


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def scores(macro: str, *arguments: str) -> str:
    return render("scores.sql", macro, *arguments)


def percentiles(connection: duckdb.DuckDBPyConnection, rows: list[tuple[float, float, float]]) -> list[float]:
    """Percentile of k events where x were expected under a prior of a, neither tempered nor of revenue."""
    connection.execute("create or replace table given (line int, k double, x double, a double)")
    insert_rows(connection, "given", [(n, *row) for n, row in enumerate(rows)])
    found = connection.execute(f"""
        with rates as (select *, a + k as s1, {scores("relative_rate", "a", "k", "x")} as r from given),
        scored as (select *, {scores("cube_root_score", "r", "a", "s1")} as z from rates)
        select 100 * case
            when z < 0 then {scores("normal_tail", "(-z)")} else 1 - {scores("normal_tail", "z")}
        end from scored order by line
    """).fetchall()
    return [float(percentile) for (percentile,) in found]


# largest error in points, by the coefficient of variation between ads
@pytest.mark.parametrize(("cv", "error"), [(0.25, 0.32), (0.35, 0.32), (0.5, 0.32), (0.7, 0.32), (1.0, 1.2)])
def test_the_cube_root_is_near_the_exact_probability(
    connection: duckdb.DuckDBPyConnection, cv: float, error: float
) -> None:
    a = 1 / cv**2
    rows = [(x * times, x, a) for x in (0.1, 1, 5, 30, 200, 5_000) for times in (0, 0.3, 0.8, 1, 1.3, 2, 4)]
    for (k, x, _), found in zip(rows, percentiles(connection, rows), strict=True):
        # P(X < Y) of Gamma(a, rate a) and Gamma(a + k, rate a + x)
        assert found == pytest.approx(100 * betainc(a, a + k, a / (2 * a + x)), abs=error), (k, x)


def test_more_events_at_the_same_rate_move_an_ad_away_from_the_middle(connection: duckdb.DuckDBPyConnection) -> None:
    for a in (4.0, 16.0):
        exposed = (0, 1, 3, 10, 30, 100, 1_000)
        good = percentiles(connection, [(1.5 * x, x, a) for x in exposed])
        bad = percentiles(connection, [(0.5 * x, x, a) for x in exposed])
        assert good[0] == pytest.approx(50, abs=1e-4)
        assert all(less < more for less, more in pairwise(good))
        assert all(less > more for less, more in pairwise(bad))


def test_a_sum_is_the_same_in_any_order(connection: duckdb.DuckDBPyConnection) -> None:
    values = (0.1, 1e-9, 123456.789, 0.3, 7e-12)
    sums = set()
    for order in permutations(values):
        rows = ", ".join(f"({value!r}::double)" for value in order)
        (row,) = connection.execute(f"select {scores('exact_sum', 'v')} from (values {rows}) t(v)").fetchall()
        sums.add(row)
    assert len(sums) == 1


def test_shares_add_up_to_the_same_without_the_bound(connection: duckdb.DuckDBPyConnection) -> None:
    rows = ", ".join(f"({n / 997!r}::double)" for n in range(998))
    both = f"select {scores('exact_sum', 'v')}, {scores('exact_sum_of_shares', 'v')} from (values {rows}) t(v)"
    (row,) = connection.execute(both).fetchall()
    assert row[0] == row[1] == pytest.approx(499)
