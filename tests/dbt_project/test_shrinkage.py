"""The shrinkage behind the scores, as shipped, on two examples whose estimates are in print (tests/data/shrinkage)."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from pathlib import Path

import duckdb
import pytest

from tests.dbt_project.macros import render

DATA = Path(__file__).parents[1] / "data" / "shrinkage"
PRINTED = 1e-3


def scores(macro: str, *arguments: str) -> str:
    return render("scores.sql", macro, *arguments)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def test_efron_and_morris_1975_estimate_eighteen_batters(connection: duckdb.DuckDBPyConnection) -> None:
    """Averages on the scale on which their variance is one, so that a deviation is an event where one was expected.

    The leverage is Stein's: three degrees of freedom of eighteen are spent on the mean and on the spread.
    """
    rows = connection.execute(f"""
        with measured as (
            select *, sqrt(at_bats) * asin(2 * hits / at_bats - 1) as y
            from read_csv('{DATA / "batting_1970.csv"}')
        ),
        centred as (
            select *, avg(y) over () as mean, 1 + y - avg(y) over () as k, 1 as x, 1 as w, 3 / count(*) over () as h
            from measured
        ),
        moments as (select {scores("moment_sums", "w", "k", "x", "h")} from centred),
        prior as (select 1 / {scores("moment_cv2", "seen", "by_chance", "freedom")} as a from moments),
        shrunk as (select *, mean + {scores("relative_rate", "a", "k", "x")} - 1 as estimate from centred, prior)
        select player, published_estimate, (sin(estimate / sqrt(at_bats)) + 1) / 2 from shrunk
    """).fetchall()
    assert len(rows) == 18
    for player, published, estimate in rows:
        assert estimate == pytest.approx(published, abs=PRINTED), player


def tumours(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(f"""
        create table tumours as
        select row_number() over () as line, tumours as y, rats as n from read_csv('{DATA / "rat_tumours.csv"}')
    """)


def spread_of_past_groups(connection: duckdb.DuckDBPyConnection) -> tuple[float, float]:
    """Mean and relative variance of the 70 past rates, taken at face value as the book does: no part is chance."""
    (row,) = connection.execute(f"""
        with rates as (
            select y / n as rate, avg(y / n) over () as mean, 1 / count(*) over () as h from tumours where line <= 70
        ),
        exposed as (select rate * 1e15 as k, mean * 1e15 as x, 1 as w, h, mean from rates),
        moments as (select {scores("moment_sums", "w", "k", "x", "h")}, any_value(mean) as mean from exposed)
        select mean, {scores("moment_cv2", "seen", "by_chance", "freedom")} from moments
    """).fetchall()
    return float(row[0]), float(row[1])


def posterior_means(connection: duckdb.DuckDBPyConnection, alpha: float, beta: float) -> list[tuple[int, int, float]]:
    """(tumours, rats, posterior mean) of every group under a Beta prior, through the gamma form of the scores.

    A binomial layer is scaled by 1/(1-p); there a Beta(alpha, beta) prior is worth alpha/(1-p) events.
    """
    p = alpha / (alpha + beta)
    rate = scores("relative_rate", f"{alpha / (1 - p)!r}", f"y / (1 - {p!r})", f"n * {p!r} / (1 - {p!r})")
    return connection.execute(f"select y, n, {p!r} * {rate} from tumours order by line").fetchall()


def test_the_prior_of_the_rat_tumours_by_moments_is_the_books(connection: duckdb.DuckDBPyConnection) -> None:
    tumours(connection)
    mean, cv2 = spread_of_past_groups(connection)
    assert (mean, mean * sqrt(cv2)) == pytest.approx((0.136, 0.103), abs=PRINTED)
    weight = (1 - mean) / (mean * cv2) - 1
    alpha, beta = mean * weight, (1 - mean) * weight
    # printed with one decimal
    assert (alpha, beta) == pytest.approx((1.4, 8.6), abs=0.05)
    *_, (y, n, posterior) = posterior_means(connection, alpha, beta)
    assert (y, n) == (4, 14)
    assert posterior == pytest.approx(0.223, abs=PRINTED)


def test_posterior_means_under_the_likeliest_prior_are_those_of_the_beta_binomial(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    tumours(connection)
    alpha, beta = 2.304768, 14.079707
    rows = posterior_means(connection, alpha, beta)
    assert len(rows) == 71
    for y, n, posterior in rows:
        assert posterior == pytest.approx((alpha + y) / (alpha + beta + n), abs=1e-12)
    # the groups without a tumour and the current one, by hand
    assert rows[0][2] == pytest.approx(2.304768 / 36.384475, abs=1e-12)
    assert rows[-1][2] == pytest.approx(6.304768 / 30.384475, abs=1e-12)
