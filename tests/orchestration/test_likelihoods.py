"""The table of likelihoods: always there, and empty where nothing was trained."""

from __future__ import annotations

import duckdb

from orchestration.likelihoods import NAME, write_likelihoods
from orchestration.served_tables import require_columns, served_tables
from touchledger.settings import Settings

TABLES = [table for table in served_tables() if table.name == NAME]


def test_without_a_ranker_the_table_is_there_and_empty(settings: Settings) -> None:
    assert write_likelihoods(settings).rows == 0
    with duckdb.connect(str(settings.warehouse), read_only=True) as warehouse:
        require_columns(warehouse, f"{settings.warehouse.stem}.marts", TABLES)
