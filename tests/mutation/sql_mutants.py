"""Mutants of a compiled model: one small change each, of the kinds a slip of the hand makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

_ROUND = re.compile(r"_\d+\b")
_SWAPS: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.LTE, exp.LTE: exp.LT, exp.GT: exp.GTE, exp.GTE: exp.GT, exp.EQ: exp.NEQ, exp.NEQ: exp.EQ,
    exp.Add: exp.Sub, exp.Sub: exp.Add, exp.Mul: exp.Add, exp.And: exp.Or, exp.Or: exp.And, exp.Min: exp.Max,
    exp.Max: exp.Min, exp.Least: exp.Greatest, exp.Greatest: exp.Least,
}  # fmt: skip
Change = Callable[[exp.Expression], exp.Expression | None]


@dataclass(frozen=True)
class Mutant:
    """A model's SQL after one change; what the text had before and has after it."""

    model: str
    change: str
    before: str
    after: str
    sql: str


def mutants(model: str, sql: str) -> list[Mutant]:
    """Every mutant of a model. Equal texts under equal parents, as loops and macros make them, change together."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    sites: dict[tuple[str, str, str], list[int]] = {}
    shown: dict[tuple[str, str, str], tuple[str, str]] = {}
    for index, node in enumerate(tree.walk()):
        for name, change in _changes(node):
            alone = node.copy()
            changed = change(alone)
            after = "" if changed is None else changed.sql("duckdb")
            above = node.parent.sql("duckdb") if node.parent and not isinstance(node, exp.Join) else ""
            key = (name, _ROUND.sub("_n", above if len(above) < 400 else ""), _ROUND.sub("_n", node.sql("duckdb")))
            sites.setdefault(key, []).append(index)
            shown.setdefault(key, (node.sql("duckdb"), after))
    found = []
    for key, where in sites.items():
        text = _apply(tree, key[0], set(where))
        if text != tree.sql("duckdb"):
            found.append(Mutant(model, key[0], *shown[key], text))
    return found


def _apply(tree: exp.Expression, name: str, where: set[int]) -> str:
    mutated = tree.copy()
    chosen = [node for index, node in enumerate(mutated.walk()) if index in where]
    for node in chosen:
        change = dict(_changes(node)).get(name)
        if change is None:
            continue
        new = change(node.copy())
        if new is not None and node is not mutated:
            node.replace(new)
    return mutated.sql("duckdb")


def _changes(node: exp.Expression) -> Iterator[tuple[str, Change]]:
    """(name, what makes the changed node of a copy) for one node."""
    if (kind := _SWAPS.get(type(node))) is not None:
        yield f"{type(node).key} to {kind.key}", lambda one: kind(**one.args)
    if isinstance(node, exp.And):
        yield "left conjunct dropped", lambda one: one.expression
        yield "right conjunct dropped", lambda one: one.this
    if isinstance(node, exp.Union):
        yield "first branch only", lambda one: one.this
        yield "last branch only", lambda one: one.expression
    if isinstance(node, exp.Coalesce) and node.expressions:
        yield "coalesce without its default", lambda one: one.this
        yield "coalesce to its default", lambda one: one.expressions[-1]
    if isinstance(node, exp.Literal) and _is_counted(node):
        yield "constant plus one", lambda one: exp.Literal.number(_plus_one(one.this))
    if isinstance(node, exp.Ordered) and not _sorts_the_table(node):
        yield "order turned", lambda one: exp.Ordered(this=one.this, desc=not one.args.get("desc"), nulls_first=False)
    if isinstance(node, exp.Join) and node.side == "LEFT":
        yield "left join to inner", _inner
    if isinstance(node, exp.Not):
        yield "not dropped", lambda one: one.this
    if isinstance(node, exp.Case) and len(node.args["ifs"]) > 1:
        yield "first case dropped", _without_first
    if isinstance(node, exp.Boolean):
        yield "truth turned", lambda one: exp.Boolean(this=not one.this)


def _sorts_the_table(node: exp.Expression) -> bool:
    """The last ORDER BY of a model: it says where rows lie in the table, and a table of other order holds the same."""
    return (
        node.parent is not None
        and node.parent.parent is not None
        and node.parent.parent.parent is None
        and (isinstance(node.parent, exp.Order) and isinstance(node.parent.parent, exp.Select))
    )


def _is_counted(node: exp.Literal) -> bool:
    return not node.is_string and node.find_ancestor(exp.DataType, exp.Group) is None


def _plus_one(text: str) -> str:
    return str(float(text) + 1) if "." in text or "e" in text.lower() else str(int(text) + 1)


def _inner(join: exp.Expression) -> exp.Expression:
    join.set("side", None)
    join.set("kind", "INNER")
    return join


def _without_first(case: exp.Expression) -> exp.Expression:
    case.set("ifs", case.args["ifs"][1:])
    return case
