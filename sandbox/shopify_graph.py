"""How the Shopify face answers GraphQL: search filters, keyset connections, and what a query costs."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    default_field_resolver,
    execute_sync,
    parse,
    validate,
)
from graphql.language import DocumentNode

from sandbox.shopify_objects import SHOP, Node
from sandbox.shopify_schema import SCHEMA

MOST = 250
# how many objects of one list Shopify pages through (shopify.dev/docs/api/usage/limits)
DEEPEST = 25_000
CONNECTIONS = ("orders", "products", "variants", "lineItems")
TERM = re.compile(r"(\w+):\s*(<=|>=|<|>)?\s*['\"]?([^'\"\s)]+)['\"]?")
ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "": int.__eq__,
}  # fmt: skip


class Store:
    """The nodes of the store; a root value of the schema's Query."""

    def __init__(self, products: list[Node], orders: list[Node]) -> None:
        self.shop = SHOP
        self._nodes = {"products": products, "orders": orders}
        self._by_id = {node["id"]: node for node in (*products, *orders)}

    def order(self, _info: Any, id: str) -> Node | None:
        return self._by_id.get(id)

    def product(self, _info: Any, id: str) -> Node | None:
        return self._by_id.get(id)

    def orders(self, _info: Any, **arguments: Any) -> Node:
        return self._found("orders", arguments)

    def products(self, _info: Any, **arguments: Any) -> Node:
        return self._found("products", arguments)

    def _found(self, kind: str, arguments: Mapping[str, Any]) -> Node:
        nodes = [node for node in self._nodes[kind] if _matches(node, arguments.get("query") or "")]
        key = arguments["sortKey"].lower()
        sort = "number" if key == "id" else key
        nodes.sort(key=lambda node: (node[sort], node["number"]), reverse=arguments["reverse"])
        return connection(nodes, sort, arguments)

    def answer(self, document: DocumentNode, variables: Mapping[str, Any], operation: str | None) -> Node:
        """`data` and `errors` of a parsed document, as GraphQL has them."""
        problems = _problems(document)
        if problems:
            return {"errors": [error.formatted for error in problems]}
        result = execute_sync(
            SCHEMA, document, self, None, dict(variables), operation, field_resolver=_resolve
        )  # fmt: skip
        body: Node = {"data": result.data}
        if result.errors:
            body["errors"] = [error.formatted for error in result.errors]
        return body


def _resolve(source: Any, info: Any, **arguments: Any) -> Any:
    if not isinstance(source, dict):
        return default_field_resolver(source, info, **arguments)
    value: Any = source.get(info.field_name)
    if info.field_name in CONNECTIONS:
        return connection(value, "number", arguments)
    return value[: arguments.get("first")] if info.field_name in ("transactions", "fulfillments") else value


def connection(nodes: list[Node], sort: str, arguments: Mapping[str, Any]) -> Node:
    """One page of nodes: `first` after a cursor, or `last` before one. Raises GraphQLError on bad arguments."""
    first, last = arguments.get("first"), arguments.get("last")
    size = first if first is not None else last
    if size is None:
        raise GraphQLError("you must provide one of first or last")
    if not 0 <= size <= MOST:
        raise GraphQLError(f"first and last must be between 0 and {MOST}")
    start = _after(nodes, sort, arguments["after"]) if arguments.get("after") else 0
    end = _before(nodes, sort, arguments["before"]) if arguments.get("before") else len(nodes)
    low, high = (start, min(end, start + size)) if first is not None else (max(start, end - size), end)
    if low >= DEEPEST:
        raise GraphQLError(f"pagination is limited to {DEEPEST} objects")
    page = nodes[low:high]
    edges = [{"cursor": _cursor(node, sort), "node": node} for node in page]
    info = {
        "hasNextPage": high < len(nodes),
        "hasPreviousPage": low > 0,
        "startCursor": edges[0]["cursor"] if edges else None,
        "endCursor": edges[-1]["cursor"] if edges else None,
    }
    return {"edges": edges, "nodes": page, "pageInfo": info}


def _cursor(node: Node, sort: str) -> str:
    place = {"last_id": node["number"], "last_value": node[sort]}
    return base64.b64encode(json.dumps(place, separators=(",", ":")).encode()).decode()


def _place(cursor: str) -> tuple[int, int]:
    try:
        place = json.loads(base64.b64decode(cursor, validate=True))
        return int(place["last_value"]), int(place["last_id"])
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        message = "Invalid cursor for current pagination sort."
        raise GraphQLError(message, extensions={"code": "INVALID_CURSOR"}) from error


def _after(nodes: list[Node], sort: str, cursor: str) -> int:
    place = _place(cursor)
    falling = _falls(nodes, sort)
    passed = (node for node in nodes if ((node[sort], node["number"]) >= place if falling
                                         else (node[sort], node["number"]) <= place))  # fmt: skip
    return sum(1 for _ in passed)


def _before(nodes: list[Node], sort: str, cursor: str) -> int:
    place = _place(cursor)
    falling = _falls(nodes, sort)
    earlier = (node for node in nodes if ((node[sort], node["number"]) > place if falling
                                          else (node[sort], node["number"]) < place))  # fmt: skip
    return sum(1 for _ in earlier)


def _falls(nodes: list[Node], sort: str) -> bool:
    ends = [(node[sort], node["number"]) for node in (nodes[:1] + nodes[-1:])]
    return len(ends) == 2 and ends[0] > ends[1]


def _matches(node: Node, query: str) -> bool:
    """Shopify's search syntax as clients use it: `field:>=value` terms joined by AND; unknown fields are ignored."""
    return all(_term(node, *term) for term in TERM.findall(query))


def _term(node: Node, name: str, order: str, value: str) -> bool:
    if name in ("created_at", "updated_at", "processed_at"):
        asked = datetime.fromisoformat(value)
        moment = asked if asked.tzinfo else asked.replace(tzinfo=UTC)
        return ORDERS[order](node[name], int(moment.timestamp()))
    if name == "id":
        return ORDERS[order](node["number"], int(value.rpartition("/")[2]))
    if name == "financial_status" and name in node:
        return bool(node[name] == value.lower())
    if name == "status" and "variants" in node:
        return bool(node["status"] == value.upper())
    return True


def requested_cost(document: DocumentNode, variables: Mapping[str, Any]) -> int:
    """Points asked for: 1 per object, scalars free, a connection 2 and its page of nodes."""
    fragments = {row.name.value: row for row in document.definitions if isinstance(row, FragmentDefinitionNode)}
    return sum(
        _cost(row.selection_set, variables, fragments)
        for row in document.definitions
        if isinstance(row, OperationDefinitionNode)
    )


def _cost(
    selected: SelectionSetNode, variables: Mapping[str, Any], fragments: Mapping[str, FragmentDefinitionNode]
) -> int:
    total = 0
    for part in selected.selections:
        if isinstance(part, FragmentSpreadNode):
            total += _cost(fragments[part.name.value].selection_set, variables, fragments)
        elif isinstance(part, InlineFragmentNode):
            total += _cost(part.selection_set, variables, fragments)
        elif isinstance(part, FieldNode) and part.selection_set is not None:
            inside = _cost(part.selection_set, variables, fragments)
            name = part.name.value
            if name in CONNECTIONS:
                total += 2 + _size(part, variables) * inside
            else:
                total += inside + (name not in ("edges", "nodes", "node", "pageInfo")) + (name in ("node", "nodes"))
    return total


def _size(field: FieldNode, variables: Mapping[str, Any]) -> int:
    for argument in field.arguments:
        if argument.name.value in ("first", "last"):
            value = argument.value
            if isinstance(value, IntValueNode):
                return int(value.value)
            if isinstance(value, VariableNode):
                return int(variables.get(value.name.value) or 0)
    return 0


def actual_cost(data: Any) -> int:
    """Points used: what `requested_cost` counts, over the objects that were there."""
    if isinstance(data, list):
        return sum(actual_cost(part) for part in data)
    if not isinstance(data, dict):
        return 0
    inside = sum(actual_cost(value) for key, value in data.items() if key != "pageInfo")
    is_frame = "edges" in data or "nodes" in data
    return inside + (2 if is_frame else 0 if set(data) <= {"cursor", "node"} else 1)


# clients send the same few documents over and over
@lru_cache(maxsize=64)
def _problems(document: DocumentNode) -> list[GraphQLError]:
    return validate(SCHEMA, document)


@lru_cache(maxsize=64)
def read(query: str) -> DocumentNode:
    """The parsed document. Raises GraphQLError with the place of a syntax error."""
    return parse(query)
