"""Mutants of a Python module, each judged by the module's own tests in a process that imports the mutant."""

from __future__ import annotations

import ast
import copy
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from orchestration.dbt_manifest import PROJECT
from tests.mutation.results import Result

ROOT = PROJECT.parent
_JUDGED = ["tests/data_contracts/test_values.py", "tests/data_contracts/test_judge.py"]
FILES = {
    "api windows": ("api.windows", ["tests/api/test_windows.py"]),
    "api money": ("api.money", ["tests/api/test_money.py"]),
    "contract values": ("data_contracts.values", _JUDGED),
    "contract rules": ("data_contracts.rules", _JUDGED),
}
SECONDS = 60
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
}  # fmt: skip


def python_results(area: str, share: float, seed: int) -> list[Result]:
    """Judge the mutants of one module."""
    module, tests = FILES[area]
    path = ROOT / f"{module.replace('.', '/')}.py"
    random, results = Random(seed), []
    if not _passes(module, path.read_text(), tests):
        raise AssertionError(f"the tests of {module} fail without a change")
    for change, source in mutants_of(path.read_text()):
        if random.random() < share:
            results.append(Result(area, module, change, None if _passes(module, source, tests) else "its tests"))
    return results


def mutants_of(source: str) -> Iterator[tuple[str, str]]:
    """(what changed, the text with it) for every small change of a module."""
    tree = ast.parse(source)
    for index, node in enumerate(ast.walk(tree)):
        for number in range(len(list(_changed(copy.deepcopy(node))))):
            mutated = copy.deepcopy(tree)
            target = list(ast.walk(mutated))[index]
            new = list(_changed(copy.deepcopy(target)))[number]
            before = ast.unparse(target)
            _put(mutated, target, new)
            ast.fix_missing_locations(mutated)
            yield f"line {getattr(node, 'lineno', '?')}: {before}  ->  {ast.unparse(new)}", ast.unparse(mutated)


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and (kind := _SWAPS.get(type(node.ops[0]))):
        node.ops[0] = kind()  # type: ignore[call-overload]
        yield node
    elif isinstance(node, (ast.BoolOp, ast.BinOp)) and (kind := _SWAPS.get(type(node.op))):
        node.op = kind()  # type: ignore[assignment]
        yield node
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)


def _put(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(one is old for one in value):
                value[[one is old for one in value].index(True)] = new


def _passes(module: str, source: str, tests: list[str]) -> bool:
    """Whether the tests pass with that text as the module; one that never ends is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        planted = Path(folder) / "planted.py"
        planted.write_text(source)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "tests.mutation.planted", "-p", "no:cacheprovider"]
        environment = {**os.environ, "MUTANT_MODULE": module, "MUTANT_SOURCE": str(planted)}
        try:
            done = subprocess.run(
                [*command, *tests], cwd=ROOT, env=environment, capture_output=True, check=False, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0
