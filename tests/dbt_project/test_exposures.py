"""Exposures name what reads the marts: real routes, the files that hold the statements, and what those read."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from api.served import NAMED, TABLES
from data_contracts import contract as contracts
from orchestration.dbt_manifest import PROJECT

ROOT = PROJECT.parent
# no tables of dbt: what a snapshot says of itself, and values that a fit writes beside the marts
NO_MART = {"snapshot", *contracts.FITTED}
# every reader asks it for the profile, most by way of api/served.py
EVERYBODY = {"profiles"}


@cache
def exposures() -> dict[str, dict[str, Any]]:
    found = yaml.load((PROJECT / "models" / "exposures.yml").read_text(), contracts.LOADER)["exposures"]
    return {one["name"]: one for one in found}


def marts_of(exposure: dict[str, Any]) -> set[str]:
    return {ref.removeprefix("ref('").removesuffix("')") for ref in exposure["depends_on"]}


def code_of(exposure: dict[str, Any]) -> list[str]:
    return list(exposure["config"]["meta"]["code"])


@cache
def read_in(path: Path) -> set[str]:
    """The marts that statements in this file name; a `Table` of running totals names its own."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Table":
            found |= {part.value for part in node.args[:1] if isinstance(part, ast.Constant)}
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(re.findall(r"\b(?:from|join)\s+(\w+)", node.value))
    return (found & {*TABLES, *NAMED}) - NO_MART


def readers() -> dict[str, set[str]]:
    """Files with statements on marts, each with the marts."""
    files = [path for part in ("api", "touchledger") for path in (ROOT / part).rglob("*.py")]
    return {str(path.relative_to(ROOT)): read_in(path) for path in files if read_in(path)}


def test_every_file_that_reads_marts_belongs_to_exposures_that_name_them_all() -> None:
    told: dict[str, set[str]] = {}
    for exposure in exposures().values():
        for code in code_of(exposure):
            told.setdefault(code, set()).update(marts_of(exposure))
    untold = {code: marts - told.get(code, set()) for code, marts in readers().items()}
    assert {code: marts for code, marts in untold.items() if marts} == {}


def test_no_exposure_names_a_mart_that_its_files_do_not_read() -> None:
    for name, exposure in exposures().items():
        read = set().union(EVERYBODY, *(read_in(ROOT / code) for code in code_of(exposure)))
        assert marts_of(exposure) <= read, name


def test_every_route_in_a_label_is_one_of_the_api() -> None:
    listed = re.findall(r"^\| ([A-Z]+) \| `([^`]+)`", (ROOT / "docs" / "routes.md").read_text(), re.MULTILINE)
    routes = {f"{method} {re.sub(r'<[^>]+>', '{}', path.removeprefix('/api/v1'))}" for method, path in listed}
    named = [route for one in exposures().values() for route in re.findall(r"[A-Z]+ /[^\s,]+", one["label"])]
    assert len(named) == len(set(named))
    assert {re.sub(r"\{\w+\}", "{}", route) for route in named} - routes == set()
