"""Mutants of a Python module, each judged by the module's own tests in a process that imports the mutant."""

from __future__ import annotations

import ast
import copy
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import click

from orchestration.dbt_manifest import PROJECT
from tests.mutation.results import Result

ROOT = PROJECT.parent
_JUDGED = ["tests/data_contracts/test_values.py", "tests/data_contracts/test_judge.py"]
_META = [f"tests/connectors/test_meta_{what}.py" for what in ("rows", "ads", "live")]
_TIKTOK = [f"tests/connectors/test_tiktok_{what}.py" for what in ("rows", "ads", "live")]
_PLANS = ["tests/api/test_subscriptions.py", "tests/touchledger/test_accounts.py"]
_STRIPE = ["tests/connectors/test_stripe.py", "tests/connectors/test_stripe_captures.py"]
FILES = {
    "api windows": ("api.windows", ["tests/api/test_windows.py"]),
    "api money": ("api.money", ["tests/api/test_money.py"]),
    "api rate limit": ("api.rate_limit", ["tests/api/test_rate_limit.py", "-k", "not postgres"]),
    "api one time": ("api.one_time", ["tests/api/test_one_time.py", "-k", "not postgres"]),
    "api idempotency": ("api.idempotency", ["tests/api/test_idempotency.py", "-k", "not postgres and not processes"]),
    "api pagination": ("api.pagination", ["tests/api/test_pagination.py"]),
    "api chores": ("api.one_by_one", ["tests/api/test_one_by_one.py"]),
    "api once": ("api.once", ["tests/api/test_once.py"]),
    "api reach": ("api.reach", ["tests/api/test_reach.py", "tests/promises/test_neighbours.py"]),
    "platform rules": ("api.platform_rules", ["tests/api/test_platform_rules.py"]),
    "erased parquet": ("orchestration.erased_parquet", ["tests/orchestration/test_erased_parquet.py"]),
    "erased lake": ("orchestration.erased_lake", ["tests/orchestration/test_erased_lake.py"]),
    "contract checks": ("orchestration.checks", ["tests/orchestration/test_checks.py"]),
    "webhook emitting": ("api.webhooks.emitting", ["tests/api/webhooks/test_emitting.py"]),
    "webhook egress": ("api.webhooks.egress", ["tests/api/webhooks/test_egress.py"]),
    "chat messages": ("api.hooks.chat_messages", ["tests/api/hooks/test_chat.py"]),
    "meta rows": ("connectors.meta_rows", _META),
    "tiktok rows": ("connectors.tiktok_rows", _TIKTOK),
    "stripe rows": ("connectors.stripe", _STRIPE),
    "recommendation rules": ("api.recommendations.rules", ["tests/api/recommendations/test_rules.py"]),
    "plans": ("api.subscriptions", [*_PLANS, "-k", "not postgres"]),
    "looks": ("orchestration.ranking.standing", ["tests/orchestration/ranking/test_standing.py"]),
    "contract values": ("data_contracts.values", _JUDGED),
    "contract rules": ("data_contracts.rules", _JUDGED),
}
# an area may take this long without a change, on a machine that does other things
SECONDS = 600
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
}  # fmt: skip


def python_results(area: str, share: float, seed: int) -> list[Result]:
    """Judge the mutants of one module, as many at once as there are processors.

    Raises ClickException where its tests fail without a change.
    """
    module, tests = FILES[area]
    source, random = (ROOT / f"{module.replace('.', '/')}.py").read_text(), Random(seed)
    drawn = [one for one in mutants_of(source) if random.random() < share]
    if not drawn:
        return []
    begun = time.perf_counter()
    if not _passes(module, source, tests, SECONDS):
        raise click.ClickException(f"the tests of {module} fail without a change")
    # beside others, and with longer ways round, and not as long as one that never ends could take
    limit = 10 + 4 * (time.perf_counter() - begun)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(lambda one: _passes(module, one[1], tests, limit), drawn))
    return [
        Result(area, module, change, None if alive else "its tests")
        for (change, _), alive in zip(drawn, passed, strict=True)
    ]


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
    if isinstance(node, ast.Compare):
        for number, one in enumerate(node.ops):
            if kind := _SWAPS.get(type(one)):
                yield ast.Compare(node.left, [*node.ops[:number], kind(), *node.ops[number + 1 :]], node.comparators)  # type: ignore[list-item]
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(_SWAPS[type(node.op)](), node.values)  # type: ignore[arg-type]
        for number in range(len(node.values)):
            left = node.values[:number] + node.values[number + 1 :]
            yield ast.BoolOp(node.op, left) if len(left) > 1 else left[0]
    elif isinstance(node, ast.BinOp) and (kind := _SWAPS.get(type(node.op))):
        yield ast.BinOp(node.left, kind(), node.right)  # type: ignore[arg-type]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, (ast.Raise, ast.AugAssign)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()


def _put(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(one is old for one in value):
                value[[one is old for one in value].index(True)] = new


def _passes(module: str, source: str, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass with that text as the module; one that never ends is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        planted = Path(folder) / "planted.py"
        planted.write_text(source)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "tests.mutation.planted", "-p", "no:cacheprovider"]
        environment = {**os.environ, "MUTANT_MODULE": module, "MUTANT_SOURCE": str(planted)}
        try:
            done = subprocess.run(
                [*command, *tests], cwd=ROOT, env=environment, capture_output=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0
