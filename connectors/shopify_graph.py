"""Reading the Shopify Admin GraphQL API: whole connections, page by page, inside the shop's cost budget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from connectors.cursors import Steps
from connectors.errors import ConnectorError, CursorExpired, Malformed, Refused, Throttled, TooMuchData, Transient
from connectors.store import Row
from connectors.transport import Answer, Request, Transport, retry_after

VERSION = "2026-10"
PAGE = 20
RESTARTS = 2
# it becomes a part of addresses
HANDLE = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_TRANSIENT = {"INTERNAL_SERVER_ERROR", "TIMEOUT", "SERVICE_UNAVAILABLE"}
# protected data of customers: a store tells orders without them to an app that was not approved for them
WITHHOLDABLE = {"email", "phone"}
_BY_STATUS = {402: "shop_frozen", 403: "permission_missing", 404: "shop_not_found", 423: "shop_locked"}


def handle(shop: str) -> str:
    """The handle of a shop that is named by it or by its domain: `my-shop` of `My-Shop.myshopify.com`.

    Raises ValueError for what names none.
    """
    found = shop.strip().lower().partition(".")[0]
    if not HANDLE.fullmatch(found):
        raise ValueError("a shop whose handle is none")
    return found


class ShopifyDialect:
    """Judges GraphQL answers: most refusals come with HTTP 200. `withheld` are the members kept back so far."""

    provider = "shopify"

    def __init__(self) -> None:
        self.withheld: set[str] = set()

    def judge(self, answer: Answer) -> None:
        if answer.status in _BY_STATUS:
            raise Refused("shopify", f"HTTP {answer.status}", reason=_BY_STATUS[answer.status], status=answer.status)
        if answer.status == 430:
            raise Throttled("shopify", "HTTP 430", wait=retry_after(answer), status=430)
        if answer.status >= 300 or not answer.is_json:
            return
        if not isinstance(answer.body, dict):
            raise Malformed("shopify", "the answer is not an object")
        errors = answer.body.get("errors")
        kept_back = _withheld(errors)
        if kept_back:
            self.withheld |= kept_back
        elif errors:
            raise _refusal(answer, errors[0] if isinstance(errors, list) and isinstance(errors[0], dict) else {})
        if not isinstance(answer.body.get("data"), dict):
            raise Malformed("shopify", "an answer without data")

    def pause_after(self, answer: Answer) -> float:
        """Seconds until the bucket holds the next page, taking it to cost what this one was estimated at."""
        return seconds_to_afford(answer)


def seconds_to_afford(answer: Answer) -> float:
    """(requestedQueryCost - currentlyAvailable) / restoreRate, never negative; 0 when the answer states no cost."""
    cost = _mapping(_mapping(_mapping(answer.body).get("extensions")).get("cost"))
    state = _mapping(cost.get("throttleStatus"))
    try:
        missing = float(cost["requestedQueryCost"]) - float(state["currentlyAvailable"])
        wait = missing / float(state["restoreRate"])
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return 0.0
    return max(0.0, wait) if isfinite(wait) else 0.0


def _withheld(errors: Any) -> set[str]:
    """The members that the store kept back in data that is otherwise whole; none where it refused anything else."""
    found: set[str] = set()
    for error in errors if isinstance(errors, list) else []:
        path, code = _mapping(error).get("path"), _mapping(_mapping(error).get("extensions")).get("code")
        name = path[-1] if isinstance(path, list) and path else None
        if code != "ACCESS_DENIED" or not isinstance(name, str) or name not in WITHHOLDABLE:
            return set()
        found.add(name)
    return found


def _refusal(answer: Answer, error: Mapping[str, Any]) -> ConnectorError:
    code = str(_mapping(error.get("extensions")).get("code", ""))
    message = str(error.get("message", ""))[:300]
    if code == "THROTTLED":
        return Throttled("shopify", message, wait=seconds_to_afford(answer) or None, status=200)
    if code == "MAX_COST_EXCEEDED":
        return TooMuchData("shopify", message, status=200)
    if "invalid cursor" in message.lower():
        return CursorExpired("shopify", message, status=200)
    if code in _TRANSIENT or "internal error" in message.lower():
        return Transient("shopify", message, status=200)
    return Refused("shopify", message, reason="permission_missing" if code == "ACCESS_DENIED" else None, status=200)


@dataclass(repr=False)
class ShopifyGraph:
    """The GraphQL endpoint of one shop."""

    base_url: str
    token: str
    transport: Transport

    def __post_init__(self) -> None:
        self._dialect = ShopifyDialect()

    @property
    def withheld(self) -> set[str]:
        """The members of what was told that the store kept back, null there."""
        return self._dialect.withheld

    def ask(self, document: str, variables: Mapping[str, Any]) -> Row:
        """The `data` of one answer."""
        request = Request(
            "POST",
            f"{self.base_url}/admin/api/{VERSION}/graphql.json",
            document={"query": document, "variables": dict(variables)},
            headers={"X-Shopify-Access-Token": self.token},
        )
        return dict(self.transport.send(request, self._dialect, secrets=(self.token,)).body["data"])

    def walk(
        self,
        document: str,
        variables: Mapping[str, Any],
        path: tuple[str, ...],
        after: str | None = None,
        *,
        most: int | None = None,
    ) -> tuple[list[tuple[Row, Row]], str | None]:
        """Every node of the connection at `path`, or the next `most`, each beside the `data` of its page.

        The cursor behind them is None where all pages were read. An expired cursor restarts the walk, a query that
        costs too much is asked in smaller pages. Raises Malformed for a connection that never moves on, Refused as
        `some` does.
        """
        for restart in range(RESTARTS + 1):
            try:
                return self.some(document, variables, path, after, most=most)
            except CursorExpired:
                if restart == RESTARTS:
                    raise
        raise AssertionError("unreachable")

    def some(
        self,
        document: str,
        variables: Mapping[str, Any],
        path: tuple[str, ...],
        after: str | None = None,
        *,
        most: int | None = None,
        first: int | None = None,
    ) -> tuple[list[tuple[Row, Row]], str | None]:
        """At most `most` nodes behind the cursor `after`, in pages of `first`, and the cursor behind them.

        Raises CursorExpired when the store no longer knows the place, Refused with `not_found` when what the nodes
        belong to is gone, Malformed as `walk` does.
        """
        found: list[tuple[Row, Row]] = []
        size, steps = first or PAGE, Steps("shopify", after)
        while True:
            size = size if most is None else min(size, most - len(found))
            try:
                data = self.ask(document, {**variables, "first": size, "after": after})
            except TooMuchData:
                if size == 1:
                    raise
                size //= 2
                continue
            if len(path) > 1 and data.get(path[0], path) is None:
                raise Refused("shopify", "it is there no more", reason="not_found", status=200)
            nodes, following = connection_page(_at(data, path))
            found += [(node, data) for node in nodes]
            if following is None or (most is not None and len(found) >= most):
                return found, following
            steps.to(following)
            after = following


def connection_page(connection: Mapping[str, Any]) -> tuple[list[Row], str | None]:
    """A connection's nodes, and the cursor after them; None at its end."""
    try:
        nodes = [dict(edge["node"]) for edge in connection["edges"]]
        page = connection["pageInfo"]
        has_next, cursor = page["hasNextPage"], page["endCursor"]
    except (KeyError, TypeError, ValueError):
        raise Malformed("shopify", "a connection without edges or pageInfo") from None
    if not isinstance(has_next, bool):
        raise Malformed("shopify", "a page that does not tell whether another follows")
    if has_next and (not isinstance(cursor, str) or not cursor):
        raise Malformed("shopify", "a page that has a next one, but no cursor")
    return nodes, cursor if has_next else None


def _at(data: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
    found: Any = data
    for name in path:
        found = _mapping(found).get(name)
    return _mapping(found)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
