"""One Shopify store: its catalogue and its orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from connectors import attributes, shopify_queries
from connectors.errors import Malformed, Refused
from connectors.shopify_graph import ShopifyGraph, connection_page
from connectors.store import Page, Row
from connectors.transport import Transport

# Shopify's display states beside REST's four, which our contract speaks
FULFILLMENT = {
    "FULFILLED": "fulfilled", "PARTIALLY_FULFILLED": "partial", "RESTOCKED": "restocked",
    "IN_PROGRESS": None, "ON_HOLD": None, "OPEN": None, "PENDING_FULFILLMENT": None,
    "REQUEST_DECLINED": None, "SCHEDULED": None, "UNFULFILLED": None,
}  # fmt: skip
# Shopify pages through no more than 25,000 objects of a list
DEEPEST = 20_000
LONGEST_AMOUNT = 20
LONGEST_NAME = 80
# an authorization that ran out holds no money, as a voided one; of an order without a state nobody said that it is paid
FINANCIAL = {"EXPIRED": "voided", None: "pending"}
# states in which nothing is left to pay
_PAID_UP = {"PAID", "PARTIALLY_REFUNDED", "REFUNDED"}
# for sale to whoever has its address, and told as active to those who ask in an older version
PRODUCT = {"UNLISTED": "active"}


class Shopify:
    """One store over the Admin GraphQL API; `base_url` is the shop's origin, `shop` its handle."""

    def __init__(self, base_url: str, token: str, shop: str, transport: Transport) -> None:
        self.connection_ref = shop
        self._graph = ShopifyGraph(base_url.rstrip("/"), token, transport)

    def __repr__(self) -> str:
        return f"<Shopify {self.connection_ref}>"

    @property
    def withheld(self) -> set[str]:
        """What of people the store kept back so far: `email`, `phone`."""
        return self._graph.withheld

    def catalogue(self, updated_since: datetime | None = None) -> dict[str, list[Row]]:
        """products and variants changed since then, each product with all its variants."""
        products, variants = [], []
        for node, page in self._changed(shopify_queries.PRODUCTS, "products", updated_since):
            with _as_promised(node):
                nested = self._nested(node, "variants", shopify_queries.PRODUCT_VARIANTS, ("product", "variants"))
                if nested is None:
                    continue
                products.append(self._product(node, page["shop"]["currencyCode"]))
                variants += [self._variant(variant, products[-1]["product_id"]) for variant in nested]
        return {"products": _latest(products, "product_id"), "variants": _latest(variants, "variant_id")}

    def orders(self, updated_since: datetime | None = None) -> dict[str, list[Row]]:
        """orders and order_lines of the orders changed since then, each order with all its lines.

        An order placed to try the checkout is none, since nobody pays for it.
        """
        orders, lines = [], []
        for node, _ in self._changed(shopify_queries.ORDERS, "orders", updated_since):
            if node.get("test"):
                continue
            with _as_promised(node):
                nested = self._nested(node, "lineItems", shopify_queries.ORDER_LINES, ("order", "lineItems"))
                if nested is None:
                    continue
                orders.append(self._order(node))
                lines += [self._line(line, orders[-1]["order_id"]) for line in nested]
        return {"orders": _latest(orders, "order_id"), "order_lines": _latest(lines, "order_id", "line_id")}

    def products_page(self, *, since: datetime | None, after: str | None, most: int) -> Page:
        """As `Store` says."""
        asked = {"query": _since(since)}
        found, following = self._graph.some(shopify_queries.PRODUCTS, asked, ("products",), after, most=most)
        rows = []
        for node, page in found:
            with _as_promised(node):
                row = self._product(node, page["shop"]["currencyCode"])
                nested = self._nested(node, "variants", shopify_queries.PRODUCT_VARIANTS, ("product", "variants"))
                if nested is None:
                    continue
                rows.append({**row, "variants": [self._variant(variant, row["product_id"]) for variant in nested]})
        return Page(_latest(rows, "product_id"), following)

    def orders_page(self, *, since: datetime | None, after: str | None, most: int) -> Page:
        """As `Store` says."""
        document, first = shopify_queries.LIVE_ORDERS, shopify_queries.LIVE_ORDERS_PAGE
        asked = {"query": _since(since)}
        found, following = self._graph.some(document, asked, ("orders",), after, most=most, first=first)
        rows = []
        for node, _ in found:
            with _as_promised(node):
                nested = self._nested(node, "lineItems", shopify_queries.LIVE_ORDER_LINES, ("order", "lineItems"))
                if nested is None:
                    continue
                rows.append({**self._order(node), **_live(node), "lines": [self._live_line(line) for line in nested]})
        return Page(_latest(rows, "order_id"), following)

    def _changed(self, document: str, kind: str, since: datetime | None) -> Iterator[tuple[Row, Row]]:
        """What changed since then, in the order of its changes: of a long list by the moments of these.

        What changed in a moment where one stretch ends and the next begins comes twice.
        """
        after = None
        while True:
            found, after = self._graph.walk(document, {"query": _since(since)}, (kind,), after, most=DEEPEST)
            yield from found
            if after is None:
                return
            with _as_promised(found[-1][0]):
                last = _time(found[-1][0]["updatedAt"])
            if last and last != since:
                since, after = last, None

    def _live_line(self, node: Row) -> Row:
        return {**self._line(node, ""), "discount": _shop_money(node, "totalDiscountSet")}

    def _nested(self, node: Row, name: str, document: str, path: tuple[str, ...]) -> list[Row] | None:
        """All of an order's lines or a product's variants; None where it was deleted since its page was read."""
        rows, after = connection_page(node[name])
        if after is None:
            return rows
        try:
            return rows + [row for row, _ in self._graph.walk(document, {"id": node["id"]}, path, after)[0]]
        except Refused as refused:
            if refused.reason != "not_found":
                raise
            return None

    def _product(self, node: Row, currency: str) -> Row:
        preview = (node.get("featuredMedia") or {}).get("preview") or {}
        return {
            "connection_ref": self.connection_ref,
            "product_id": _number(node["id"]),
            "title": node["title"],
            "handle": node.get("handle"),
            "status": PRODUCT.get(node["status"], node["status"].lower()),
            "vendor": node.get("vendor"),
            "product_type": node.get("productType"),
            "tags": list(node.get("tags") or []),
            "image_url": (preview.get("image") or {}).get("url"),
            "url": node.get("onlineStoreUrl"),
            "currency": currency,
            "created_at": _time(node.get("createdAt")),
            "updated_at": _time(node["updatedAt"]),
        }

    def _variant(self, node: Row, product_id: str) -> Row:
        return {
            "connection_ref": self.connection_ref,
            "variant_id": _number(node["id"]),
            "product_id": product_id,
            "title": node.get("title"),
            "sku": node.get("sku"),
            "barcode": node.get("barcode"),
            "position": node.get("position"),
            "price": amount(node["price"]),
            "compare_at_price": None if node.get("compareAtPrice") is None else amount(node["compareAtPrice"]),
            "inventory_quantity": node.get("inventoryQuantity"),
            "inventory_policy": str(node.get("inventoryPolicy") or "deny").lower(),
            "tracked": (node.get("inventoryItem") or {}).get("tracked"),
            "options": [{"name": one["name"], "value": one["value"]} for one in node.get("selectedOptions") or []],
            "updated_at": _time(node["updatedAt"]),
        }

    def _order(self, node: Row) -> Row:
        status = node["displayFinancialStatus"]
        return {
            "connection_ref": self.connection_ref,
            "order_id": _number(node["id"]),
            "order_ref": node["name"],
            "created_at": _time(node["createdAt"]),
            "updated_at": _time(node["updatedAt"]),
            "processed_at": _time(node.get("processedAt")),
            "cancelled_at": _time(node.get("cancelledAt")),
            "financial_status": FINANCIAL.get(status) or status.lower(),
            "fulfillment_status": FULFILLMENT.get(str(node.get("displayFulfillmentStatus"))),
            "currency": node["totalPriceSet"]["shopMoney"]["currencyCode"],
            "subtotal": _shop_money_or_none(node, "subtotalPriceSet"),
            "total_discounts": _shop_money_or_none(node, "totalDiscountsSet"),
            "total_shipping": _shop_money(node, "totalShippingPriceSet"),
            "total_tax": _shop_money_or_none(node, "totalTaxSet"),
            "total": _total(node),
            "paid_total": _shop_money_or_none(node, "totalReceivedSet"),
            "refunded_total": _shop_money(node, "totalRefundedSet"),
            "payment_ref": payment_ref(node.get("transactions") or []),
            "email": node.get("email"),
            "phone": node.get("phone"),
            **attributes.carried(attributes.pairs(node.get("customAttributes") or [])),
        }

    def _line(self, node: Row, order_id: str) -> Row:
        return {
            "connection_ref": self.connection_ref,
            "order_id": order_id,
            "line_id": _number(node["id"]),
            "product_id": _number_of(node.get("product")),
            "variant_id": _number_of(node.get("variant")),
            "sku": node.get("sku"),
            "title": node["title"],
            "quantity": node["quantity"],
            "price": _shop_money(node, "originalUnitPriceSet"),
        }


def _total(node: Row) -> Decimal:
    """What the buyer owes in all, before refunds; of an edited order that is paid what was received.

    Shopify's own total is that before returns, which lines taken out by an edit are as well.
    """
    if node.get("edited") and node["displayFinancialStatus"] in _PAID_UP:
        # nothing was, of an order that was taken over as paid
        return _shop_money(node, "totalReceivedSet") or _shop_money(node, "totalPriceSet")
    return _shop_money(node, "totalPriceSet")


def _live(node: Row) -> Row:
    moved = [one.get("processedAt") for one in node.get("transactions") or []]
    moved += [one["updatedAt"] for one in node.get("fulfillments") or []]
    moments = [at for at in map(_time, [node["createdAt"], node.get("cancelledAt"), *moved]) if at is not None]
    return {
        "attributes": [{"name": one["key"], "value": one["value"] or ""} for one in node["customAttributes"]],
        "status_updated_at": max(moments),
    }


def payment_ref(transactions: Iterable[Row]) -> str | None:
    """The processor's payment behind an order: what Stripe took names its payment intent."""
    for one in transactions:
        code = str(one.get("authorizationCode") or "")
        if one.get("status") == "SUCCESS" and one.get("gateway") == "stripe" and code:
            return f"stripe:{code}"
    return None


def _since(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    # a format with %Y leaves the zeros of an early year out
    told = moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
    return f"updated_at:>='{told}Z'"


def _latest(rows: Iterable[Row], *key: str) -> list[Row]:
    """One row per key; of a page that came twice, the later row stands."""
    return list({tuple(row[name] for name in key): row for row in rows}.values())


def _number(gid: str) -> str:
    """`123` of `gid://shopify/Order/123`."""
    number = gid.rsplit("/", 1)[-1].partition("?")[0]
    if not number.isdigit():
        raise Malformed("shopify", "an id that is not a gid")
    return number


def _number_of(node: Row | None) -> str | None:
    return _number(node["id"]) if node else None


def _shop_money(node: Row, name: str) -> Decimal:
    return amount(node[name]["shopMoney"]["amount"])


def _shop_money_or_none(node: Row, name: str) -> Decimal | None:
    # the member is asked for, so that a store which leaves it out is not as promised
    return None if node[name] is None else _shop_money(node, name)


def amount(text: Any) -> Decimal:
    """An amount as Shopify writes it. Raises Malformed unless it is a finite number of a sane size."""
    try:
        value = Decimal(str(text))
    except InvalidOperation:
        raise Malformed("shopify", "an amount that is not a number") from None
    if not value.is_finite() or abs(value.adjusted()) > LONGEST_AMOUNT:
        raise Malformed("shopify", "an amount that is not a number")
    return value


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


@contextmanager
def _as_promised(node: Row) -> Iterator[None]:
    """Turns a missing or odd field of an order or product into Malformed, which names it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        which = str(node.get("id"))[:LONGEST_NAME]
        raise Malformed("shopify", f"{which} is not as promised ({type(error).__name__}: {error})") from None
