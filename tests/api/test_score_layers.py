"""Layers of an ad as rows."""

from __future__ import annotations

import duckdb
import pytest

from api import score_layers
from tests.factories import served
from tests.factories.scored import LIMITS

ROWS = [
    {
        "profile_key": 1, "score_window": "28d", "entity_key": 9, **LIMITS,
        "delivery_percentile": 60.5, "delivery_reliability": 0.5,
        "retention_percentile": 50, "retention_reliability": 0,
        "attributed_revenue_percentile": 9, "attributed_revenue_reliability": 0.8,
        "attributed_revenue_reason_rank": 1,
    },
    {"profile_key": 1, "score_window": "28d", "entity_key": 10, **LIMITS},
    {"profile_key": 1, "score_window": "7d", "entity_key": 9, **LIMITS, "delivery_percentile": 1,
     "delivery_reliability": 0.499},
]  # fmt: skip


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    served.create_tables(connection)
    served.insert(connection, "ad_score_layers", ROWS)
    return connection


def test_each_layer_that_exists_for_an_ad_is_a_row(connection: duckdb.DuckDBPyConnection) -> None:
    found = connection.execute(score_layers.of_ads("score_window = '28d'"))
    names = [column[0] for column in found.description or ()]
    assert names == ["profile_key", "entity_key", "layer", "percentile", "reason_rank", "sample_confidence"]
    assert found.fetchall() == [
        (1, 9, "delivery", 60.5, None, "medium"),
        (1, 9, "retention", 50, None, "low"),
        (1, 9, "attributed_revenue", 9, 1, "high"),
    ]


def test_only_the_ads_that_are_asked_for_are_told(connection: duckdb.DuckDBPyConnection) -> None:
    found = connection.execute(score_layers.of_ads("score_window = '7d' and entity_key = 9"))
    assert [row[2] for row in found.fetchall()] == ["delivery"]
