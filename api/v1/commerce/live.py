"""GET /commerce/live/products and GET /commerce/live/orders: the connected store, asked while the caller waits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from api import auth, connections, context, errors, pagination, pii_log
from api.connections import PATIENCE, asking
from api.guard import guarded
from api.http import Blueprint
from api.models import Connection
from api.models.connection import UNFINISHED
from api.roles import Role
from api.scopes import Scope
from api.v1.commerce import rows
from api.v1.commerce.live_schemas import ASKED, LIMIT, LiveOrder, LiveProduct, LiveQuery
from api.v1.commerce.stores import KIND
from connectors.errors import CursorExpired, OutOfTime, Throttled
from connectors.shopify import Shopify
from connectors.store import Page

bp = Blueprint("commerce_live", __name__, description="The connected store, read live.")

PRODUCTS, ORDERS = "/commerce/live/products", "/commerce/live/orders"
WITHIN_SECONDS = 25.0
# when nothing tells how long the store wants to be left alone
COME_BACK_SECONDS = 10
# throttling is waited out for as long as the caller may wait at all
PATIENT = replace(PATIENCE, attempts=20, longest_wait=WITHIN_SECONDS)


@dataclass(frozen=True)
class Asked:
    """One page that is asked of one store; `after` is the store's own cursor."""

    connection: Connection
    since: datetime | None
    limit: int
    after: str | None


@bp.route("/commerce/live/products")
@guarded(scope=Scope.COMMERCE_LIVE, role=Role.VIEWER)
@bp.arguments(LiveQuery, location="query")
@bp.response(200, LiveProduct(many=True))
def live_products(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The store's products as they are now, oldest change first, every variant of each

    Products of every status; the next page is asked by `pagination.cursor` alone. A busy store is waited for.
    """
    with _asked(PRODUCTS, query) as asked:
        found = _page(PRODUCTS, asked, lambda store: store.products_page)
        return [rows.product(row, row["variants"], asked.connection.id) for row in found]


@bp.route("/commerce/live/orders")
@guarded(scope=Scope.COMMERCE_LIVE, role=Role.VIEWER)
@bp.arguments(LiveQuery, location="query")
@bp.response(200, LiveOrder(many=True))
def live_orders(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The store's orders as they are now, oldest change first, with their buyers' e-mail and phone

    Orders of every status; the next page is asked by `pagination.cursor` alone. Nothing of them is kept here but the
    fact that they were read.
    """
    with _asked(ORDERS, query) as asked:
        found = _page(ORDERS, asked, lambda store: store.orders_page)
        pii_log.listed(ORDERS, "order", len(found), "full")
        return [rows.live_order(row, asked.connection.id) for row in found]


@contextmanager
def _asked(route: str, query: Mapping[str, Any]) -> Iterator[Asked]:
    asked = _first(query) if query["cursor"] is None else _further(route, query)
    context.meta(connection_id=asked.connection.id, shop=asked.connection.external_account_id)
    context.paginate(cursor=None, has_next=False)
    yield asked


def _first(query: Mapping[str, Any]) -> Asked:
    return Asked(_connection(query["connection_id"]), query["updated_since"], query["limit"] or LIMIT, None)


def _further(route: str, query: Mapping[str, Any]) -> Asked:
    beside = next((name for name in ASKED if query[name] is not None), None)
    if beside is not None:
        raise errors.INVALID_PARAMETER(f"{beside}: pagination.cursor carries it, and is sent alone.")
    place = pagination.read(_key(), _listing(route), query["cursor"])
    connection_id, since, limit, after = place.position
    return Asked(_connection(connection_id), since and datetime.fromisoformat(since), limit, after)


def _connection(wanted: str | None) -> Connection:
    settings = context.settings()
    found = connections.of_profile(settings.operational_url, profile_id=auth.current().profile.id, kind=KIND)
    if wanted is not None:
        found = [one for one in found if one.id == wanted]
    else:
        # who began to connect another store and never finished has one store all the same
        found = [one for one in found if one.status not in UNFINISHED] or found[:1]
    if not found:
        raise errors.NOT_FOUND("This profile has no such live store connection.")
    if len(found) > 1:
        raise errors.INVALID_PARAMETER("connection_id: is required, since the profile has several stores.")
    return connections.usable(settings, found)[0]


def _page(route: str, asked: Asked, reading: Callable[[Shopify], Callable[..., Page]]) -> list[dict[str, Any]]:
    connection = asked.connection
    with asking(context.settings(), connection, within=WITHIN_SECONDS, policy=PATIENT) as transport:
        store = Shopify(connection.base_url, connection.token, connection.external_account_id, transport)
        with _patiently():
            page = reading(store)(since=asked.since, after=asked.after, most=asked.limit)
    if page.following is not None:
        position = [connection.id, asked.since and asked.since.isoformat(), asked.limit, page.following]
        context.paginate(cursor=pagination.issue(_key(), _listing(route), position, None), has_next=True)
    return page.rows


@contextmanager
def _patiently() -> Iterator[None]:
    try:
        yield
    except CursorExpired:
        raise pagination.expired() from None
    except Throttled as busy:
        raise _come_back(math.ceil(busy.wait) if busy.wait else COME_BACK_SECONDS) from None
    except OutOfTime:
        raise _come_back(COME_BACK_SECONDS) from None


def _come_back(seconds: int) -> errors.ApiError:
    headers = {"Retry-After": str(max(1, seconds))}
    return errors.SERVICE_UNAVAILABLE("The store could not be read in time; try again later.", headers=headers)


def _listing(route: str) -> pagination.Listing:
    return pagination.Listing(route, auth.current().profile.id, {})


def _key() -> bytes:
    return context.settings().signing_key()
