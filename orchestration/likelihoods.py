"""marts.ad_likelihoods: what the ranker last said of every scored ad; an empty table where it has not run.

The one served table that SQL does not make (`data_contracts.contract.modelled`): its rows are the values of a fit.
"""

from __future__ import annotations

import duckdb

from orchestration.served_tables import quoted, served_tables
from touchledger.settings import Settings

NAME = "ad_likelihoods"


def write_likelihoods(settings: Settings) -> int:
    """Write the table into the warehouse, whole or not at all; returns its rows. The caller is the only writer."""
    (table,) = [one for one in served_tables() if one.name == NAME]
    columns = ", ".join(f"{quoted(column.name)} {column.type}" for column in table.columns)
    with duckdb.connect(str(settings.warehouse)) as warehouse:
        warehouse.execute("create schema if not exists marts")
        warehouse.execute(f"create or replace table marts.{NAME} ({columns})")
        rows = warehouse.execute(f"select count(*) from marts.{NAME}").fetchone()  # noqa: S608
    return int(rows[0]) if rows else 0
