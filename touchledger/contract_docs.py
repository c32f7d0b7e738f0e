"""What contracts know and dbt's manifest does not, put into it for the page of the data docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from data_contracts.contract import Contract, landed
from orchestration.raw_columns import raw_columns, raw_description

NOT_NULL = {"type": "not_null"}


def with_contracts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest, its sources with what one row is, their columns, and where their files lie."""
    contracts = landed()
    sources = {name: _source(node, contracts[node["name"]]) for name, node in manifest["sources"].items()}
    return dict(manifest) | {"sources": sources}


def _source(node: Mapping[str, Any], contract: Contract) -> dict[str, Any]:
    columns = {
        column.name: {
            "name": column.name,
            "description": column.description,
            "type": column.type,
            "constraints": [NOT_NULL] if column.is_given else [],
        }
        for column in raw_columns(contract)
    }
    # builds read ~ as the state folder, a shell of the analyst's does not
    relation = str(node["relation_name"]).replace("'~/", "'")
    files = {"files, in the state folder": relation.split("'")[1]}
    told = {"description": raw_description(contract), "columns": columns, "relation_name": relation, "meta": files}
    return dict(node) | told
