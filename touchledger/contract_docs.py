"""What contracts know and dbt's manifest does not, put into it for the page of the data docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from data_contracts.contract import Column, Contract, landed, modelled
from orchestration.raw_columns import raw_columns, raw_description

NOT_NULL = {"type": "not_null"}
KEY = {"type": "primary_key"}


def with_contracts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest, its sources with what one row is, their columns, and where their files lie.

    Its marts have their key, and constraints of the columns that are of it or never null; each publication checks both.
    """
    inputs, marts = landed(), modelled()
    sources = {name: _source(node, inputs[node["name"]]) for name, node in manifest["sources"].items()}
    nodes = {name: _model(node, marts.get(node["name"])) for name, node in manifest["nodes"].items()}
    return dict(manifest) | {"sources": sources, "nodes": nodes}


def _model(node: Mapping[str, Any], contract: Contract | None) -> dict[str, Any]:
    if contract is None:
        return dict(node)
    columns = {
        name: dict(column) | {"constraints": _constraints(contract.column[name])}
        for name, column in node["columns"].items()
    }
    # what is there besides tells a build which rows to keep
    return dict(node) | {"columns": columns, "meta": {"key": ", ".join(contract.keys)}}


def _constraints(column: Column) -> list[dict[str, str]]:
    return [NOT_NULL] * column.required + [KEY] * (column.key_position is not None)


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
