"""Columns of assets that are tables, for Dagster's pages: from the contracts, with what is never null and the key."""

from __future__ import annotations

from typing import Any

import dagster as dg

from data_contracts.contract import Contract
from orchestration.raw_columns import raw_columns

NAME = "dagster/column_schema"
NEVER_NULL = dg.TableColumnConstraints(nullable=False)


def raw_schema(contract: Contract) -> dict[str, Any]:
    """Metadata of a data set's landed files. Its versions and withdrawals share a key, so it has none of one row."""
    columns = [_column(one.name, one.type, one.description, one.is_given) for one in raw_columns(contract)]
    return {NAME: dg.TableSchema(columns)}


def served_schema(contract: Contract) -> dict[str, Any]:
    """Metadata of a served table."""
    columns = [_column(one.name, one.physical or one.kind, one.description, one.required) for one in contract.columns]
    key = dg.TableConstraints([f"primary key ({', '.join(contract.keys)})"])
    return {NAME: dg.TableSchema(columns, constraints=key)}


def _column(name: str, kind: str, description: str, is_given: bool) -> dg.TableColumn:
    return dg.TableColumn(name, kind, description, NEVER_NULL if is_given else None)
