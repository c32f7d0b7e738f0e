"""Whose an identifier is, in plain Python and by another way than the models: union-find over one row at a time."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

Node = tuple[str, str]
KINDS = ("person_key", "anonymous_id", "email", "phone", "external_id", "payment_customer_id")
SHARED_DEVICE, SHARED_INBOX = 3, 5


@dataclass(frozen=True)
class Statement:
    """Identifiers that one row names together; `at` is minutes."""

    at: int
    nodes: frozenset[Node]
    typed: bool = False


def draw(seed: int, count: int) -> list[Statement]:
    """Statements of a crowded shop: chains, shared devices and inboxes, typed e-mails; no two at one time."""
    chance = random.Random(seed)
    found = []
    for at in chance.sample(range(count * 3), count):
        # the first few devices, e-mails and phones come up often: they are the shared ones
        often = chance.random() < 0.45
        kinds = chance.sample(
            ("email", "phone", "anonymous_id", "external_id") if often else KINDS, chance.choice((1, 2, 2, 3))
        )
        numbers = [chance.randrange(count) for _ in kinds]
        if often and kinds[0] != "external_id":
            numbers[0] = chance.randrange(6)
        found.append(
            Statement(at, frozenset((kind, f"{kind}{number}") for kind, number in zip(kinds, numbers, strict=True)))
        )
    for at in range(count * 3, count * 3 + count // 3):
        contact = chance.choice(("email", "phone"))
        pair = {
            ("anonymous_id", f"anonymous_id{chance.randrange(count)}"),
            (contact, f"{contact}{chance.randrange(count)}"),
        }
        found.append(Statement(at, frozenset(pair), typed=True))
    return found


def resolve(statements: Iterable[Statement]) -> dict[Node, Node]:
    """The earliest own identifier of the person of each identifier."""
    ordered = sorted(statements, key=lambda statement: statement.at)
    shared, first = _shared(ordered), _first_seen(ordered)
    groups = _Groups(first)
    for statement in ordered:
        if not statement.typed:
            groups.join(statement.nodes - shared)
    _attach_typed(ordered, shared, groups)
    leader: dict[Node, Node] = {}
    for node in sorted(first.keys() - shared, key=lambda node: (first[node], *node)):
        leader.setdefault(groups.root(node), node)
    owner = {node: leader[groups.root(node)] for node in first.keys() - shared}
    return owner | {node: _fallback(node, ordered, shared, owner) for node in shared}


def _first_seen(ordered: list[Statement]) -> dict[Node, int]:
    first: dict[Node, int] = {}
    for statement in ordered:
        for node in statement.nodes:
            first.setdefault(node, statement.at)
    return first


def _shared(statements: list[Statement]) -> set[Node]:
    company: dict[Node, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for statement in statements:
        for node in statement.nodes:
            for kind, value in statement.nodes - {node}:
                company[node][kind].add(value)
    devices = {
        node
        for node, seen in company.items()
        if node[0] == "anonymous_id" and max(len(seen["email"]), len(seen["phone"])) > SHARED_DEVICE
    }
    inboxes = {
        node
        for node, seen in company.items()
        if node[0] in ("email", "phone") and len(seen["external_id"]) > SHARED_INBOX
    }
    return devices | inboxes


class _Groups:
    def __init__(self, nodes: Iterable[Node]) -> None:
        self.parent = {node: node for node in nodes}

    def root(self, node: Node) -> Node:
        while self.parent[node] != node:
            node = self.parent[node]
        return node

    def join(self, nodes: Iterable[Node]) -> None:
        roots = [self.root(node) for node in nodes]
        for root in roots[1:]:
            if self.root(root) != self.root(roots[0]):
                self.parent[self.root(root)] = self.root(roots[0])


def _attach_typed(ordered: list[Statement], shared: set[Node], groups: _Groups) -> None:
    """Visitors of whom nothing is known go to the person typed first; who was known before stays apart."""
    known = {groups.root(node) for node in groups.parent if node[0] != "anonymous_id"}
    chosen: dict[Node, Node] = {}
    for statement in ordered:
        if statement.typed and not statement.nodes & shared:
            visitor, contact = sorted(statement.nodes, key=lambda node: node[0] != "anonymous_id")
            if groups.root(visitor) not in known:
                chosen.setdefault(groups.root(visitor), contact)
    for visitor, contact in chosen.items():
        groups.parent[visitor] = groups.root(contact)


def _fallback(node: Node, ordered: list[Statement], shared: set[Node], owner: dict[Node, Node]) -> Node:
    for statement in ordered:
        own = sorted(statement.nodes - shared)
        if node in statement.nodes and own:
            return owner[own[0]]
    return node
