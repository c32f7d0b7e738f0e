"""The Shopify face: the Admin GraphQL API with its cost bucket, and the REST lists of products, orders and shop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from flask import Blueprint, Response, jsonify, request
from graphql import GraphQLError

from sandbox.faces import accepted
from sandbox.shopify_graph import Store, actual_cost, read, requested_cost
from sandbox.shopify_objects import Node, order, product
from sandbox.shopify_rest import RestPages
from sandbox.world import World, WorldHolder

QUERY_MOST = 1000


@dataclass
class Bucket:
    """The leaky bucket of one app on one store: points that refill at `restore_rate` per second.

    The defaults are those of Shopify's largest plan.
    """

    maximum: float = 40_000.0
    restore_rate: float = 2_000.0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._points = self.maximum
        self._at = self.clock()

    def take(self, asked: float) -> bool:
        """Take `asked` points, or none when there are fewer."""
        with self._lock:
            self._refill()
            if asked > self._points:
                return False
            self._points -= asked
            return True

    def give_back(self, points: float) -> None:
        with self._lock:
            self._points = min(self.maximum, self._points + points)

    def status(self) -> dict[str, float]:
        with self._lock:
            self._refill()
            available = float(int(self._points))
        return {
            "maximumAvailable": self.maximum,
            "currentlyAvailable": available,
            "restoreRate": self.restore_rate,
        }

    def _refill(self) -> None:
        now = self.clock()
        self._points = min(self.maximum, self._points + (now - self._at) * self.restore_rate)
        self._at = now


def blueprint(holder: WorldHolder, bucket: Bucket | None = None) -> Blueprint:
    """`/admin/api/<version>/graphql.json`, and GET products, orders and shop `.json` with Link paging."""
    face = Blueprint("shopify", __name__)
    points = bucket or Bucket()
    # the journeys of a world never change, only the day on which its ads are looked at
    products, orders = _nodes(holder.world)
    store, pages = Store(products, orders), RestPages(products, orders)

    @face.before_request
    def check_token() -> Response | None:
        if accepted("shopify", request):
            return None
        response = jsonify(errors="[API] Invalid API key or access token (unrecognized login or wrong password)")
        response.status_code = 401
        return response

    @face.post("/admin/api/<version>/graphql.json")
    def graphql(version: str) -> Response:
        response = jsonify(_answer(store, points, request.get_json(silent=True) or {}))
        response.headers["X-Shopify-API-Version"] = version
        return response

    @face.get("/admin/api/<version>/<kind>.json")
    def rest(version: str, kind: str) -> Response:
        return pages.page(version, kind, request)

    @face.get("/admin/api/<version>/<kind>/<int:number>.json")
    def rest_one(version: str, kind: str, number: int) -> Response:
        return pages.one(version, kind, number)

    return face


def _nodes(world: World) -> tuple[list[Node], list[Node]]:
    payments = {row.intent_id: row for row in world.payments}
    orders = []
    for row in world.orders:
        payment = None if row.intent_id is None else payments[row.intent_id]
        orders.append(order(row, payment, None if row.person is None else world.people[row.person]))
    return [product(row) for row in world.products], orders


def _answer(store: Store, bucket: Bucket, body: dict[str, Any]) -> dict[str, Any]:
    variables = body.get("variables") or {}
    try:
        document = read(str(body.get("query") or ""))
    except GraphQLError as error:
        return {"errors": [error.formatted]}
    asked = requested_cost(document, variables)
    if asked > QUERY_MOST:
        text = f"Query cost is {asked}, which exceeds the single query max cost limit ({QUERY_MOST})."
        return {"errors": [{"message": text, "extensions": {"code": "MAX_COST_EXCEEDED", "cost": asked}}]}
    if not bucket.take(asked):
        refused = {"message": "Throttled", "extensions": {"code": "THROTTLED"}}
        return {"errors": [refused], "extensions": _costs(asked, None, bucket)}
    answer = store.answer(document, variables, body.get("operationName"))
    used = min(asked, actual_cost(answer.get("data") or {}))
    bucket.give_back(asked - used)
    return {**answer, "extensions": _costs(asked, used, bucket)}


def _costs(asked: int, used: int | None, bucket: Bucket) -> dict[str, Any]:
    return {"cost": {"requestedQueryCost": asked, "actualQueryCost": used, "throttleStatus": bucket.status()}}
