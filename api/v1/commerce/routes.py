"""GET /commerce/products and GET /commerce/orders: the stored copy of the profile's stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api import auth, context, customers, db, pagination, pii_log, responses
from api.guard import guarded
from api.http import Blueprint
from api.reading import Source, published
from api.scopes import Scope
from api.v1.commerce import queries, rows
from api.v1.commerce.schemas import Order, OrdersQuery, Product, ProductsQuery
from api.v1.commerce.stores import Stores, stores_of
from api.warehouse_ids import identifier_id

bp = Blueprint("commerce", __name__, description="A merchant's catalogue, and orders with or without their buyers.")

PRODUCTS, ORDERS = "/commerce/products", "/commerce/orders"
PERSONAL = ("email", "phone")


@bp.route("/commerce/products")
@guarded(scope=Scope.COMMERCE_READ)
@bp.arguments(ProductsQuery, location="query")
@responses.tagged
@bp.response(200, Product(many=True))
def product_list(query: dict[str, Any]) -> list[dict[str, Any]]:
    """The catalogue in the order in which it changed, each product with its variants

    Ask again with the newest updated_at you have seen: equal times are given again, so keep the last row of each
    product. What the store deleted comes once more, as deleted and without variants.
    """
    with _walking(PRODUCTS, query) as walk:
        if walk is None:
            return []
        found = walk.page(queries.products(**walk.asked, since=query["updated_since"]), "product_id")
        nested = queries.variants(walk.source.reader, walk.source.profile, found)
        return [
            rows.product(row, nested[row["connection_ref"], row["product_id"]], walk.store_of(row)) for row in found
        ]


@bp.route("/commerce/orders")
@guarded(scope=Scope.COMMERCE_READ)
@bp.arguments(OrdersQuery, location="query")
@responses.tagged
@bp.response(200, Order(many=True))
def order_lookup(query: dict[str, Any]) -> list[dict[str, Any]]:
    """Orders by their shown name, or by who bought, newest first; the buyer is never told

    A lookup by e-mail or phone is written into the log of personal data, without the address.
    """
    with _walking(ORDERS, query) as walk:
        if walk is None or _names_erased(query):
            _log(query, 0)
            return []
        found = walk.page(queries.orders(**walk.asked, selectors=_selectors(query)), "order_id")
        nested = queries.lines(walk.source.reader, walk.source.profile, found)
        _log(query, len(found))
        return [rows.order(row, nested[row["connection_ref"], row["order_id"]], walk.store_of(row)) for row in found]


@dataclass(frozen=True)
class Walk:
    """A list being walked: where it reads, of which store (None for all), and what its cursors are bound to."""

    source: Source
    stores: Stores
    store: str | None
    limit: int
    listing: pagination.Listing
    after: Sequence[Any] | None

    @property
    def asked(self) -> dict[str, Any]:
        """What both lists ask for, one row more than a page."""
        reader, profile = self.source.reader, self.source.profile
        return {
            **{"reader": reader, "profile": profile, "store": self.store},
            **{"most": self.limit + 1, "after": self.after},
        }

    def page(self, found: list[queries.Row], name: str) -> list[queries.Row]:
        """The rows of this page, with the answer's `pagination` set."""
        if len(found) > self.limit:
            last = queries.position(found[self.limit - 1], name)
            cursor = pagination.issue(_key(), self.listing, last, self.source.reader.snapshot_id)
            context.paginate(cursor=cursor, has_next=True)
        return found[: self.limit]

    def store_of(self, row: queries.Row) -> str:
        return self.stores.connection_id(row["connection_ref"])


@contextmanager
def _walking(route: str, query: Mapping[str, Any]) -> Iterator[Walk | None]:
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        stores, erased = stores_of(unit, _profile_id()), customers.erasures_told(unit)
    filters = {name: _told(value) for name, value in query.items() if name not in {"cursor", "limit"}}
    listing = pagination.Listing(route, _profile_id(), filters)
    resume = pagination.read(_key(), listing, query["cursor"]) if query["cursor"] is not None else None
    context.paginate(cursor=None, has_next=False)
    asked = {**filters, "limit": query["limit"], "cursor": query["cursor"], "stores": dict(stores.connected)}
    asked |= {"erased": erased}
    with published(route, asked, resume=resume) as source:
        store, asked_store = None, query["connection_id"]
        if source is not None and asked_store is not None:
            store = stores.ref(source, asked_store)
        if source is None or (asked_store is not None and store is None):
            yield None
        else:
            yield Walk(source, stores, store, query["limit"], listing, resume.position if resume else None)


def _selectors(query: Mapping[str, Any]) -> dict[str, str | None]:
    ids = {f"{kind}_id": query[kind] and identifier_id(_profile_id(), kind, query[kind]) for kind in PERSONAL}
    return {"order_ref": query["order_ref"], **ids}


def _names_erased(query: Mapping[str, Any]) -> bool:
    named = [identifier_id(_profile_id(), kind, query[kind]) for kind in PERSONAL if query[kind]]
    with db.transaction(context.settings().operational_url, durable=False) as unit:
        return bool(named and customers.erased_identifiers(unit, named))


def _log(query: Mapping[str, Any], count: int) -> None:
    if any(query[kind] is not None for kind in PERSONAL):
        pii_log.listed(ORDERS, "order", count, "masked")


def _told(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _profile_id() -> str:
    return auth.current().profile.id


def _key() -> bytes:
    return context.settings().signing_key()
