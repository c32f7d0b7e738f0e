"""The world's store in the shapes of Shopify's Admin GraphQL API; connections hold all their nodes."""

from __future__ import annotations

from typing import Any

from sandbox.clock import rfc3339
from sandbox.money import Order, OrderLine, Payment, Product, Variant, decimal_amount
from sandbox.people import Person

Node = dict[str, Any]
SHOP = {
    "id": "gid://shopify/Shop/61200000001",
    "name": "Alder & Finch",
    "myshopifyDomain": "alder-finch.myshopify.example",
    "currencyCode": "USD",
    "ianaTimezone": "America/New_York",
}
UNPAID = ("pending", "voided")
STORE_URL = "https://alderfinch.example"


def gid(kind: str, number: int) -> str:
    """A global id, as `gid://shopify/Order/5610000000000`."""
    return f"gid://shopify/{kind}/{number}"


def product(row: Product) -> Node:
    """One product with its variants; the default sort values stand under `_at` keys as epoch seconds."""
    return {
        "id": gid("Product", row.id),
        "legacyResourceId": str(row.id),
        "title": row.title,
        "handle": row.handle,
        "status": row.status.upper(),
        "vendor": row.vendor,
        "productType": row.product_type,
        "tags": list(row.tags),
        "createdAt": rfc3339(row.created_at),
        "updatedAt": rfc3339(row.updated_at),
        "onlineStoreUrl": f"{STORE_URL}/products/{row.handle}" if row.status == "active" else None,
        "featuredMedia": {"preview": {"image": {"url": f"{STORE_URL}/media/{row.handle}.jpg"}}},
        "variants": [_variant(part, row) for part in row.variants],
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "processed_at": row.created_at,
        "number": row.id,
    }


def _variant(row: Variant, parent: Product) -> Node:
    compare = None if row.compare_at_minor is None else str(decimal_amount(row.compare_at_minor, "USD"))
    return {
        "id": gid("ProductVariant", row.id),
        "legacyResourceId": str(row.id),
        "title": row.title,
        "sku": row.sku,
        "barcode": f"0{row.id}",
        "position": row.position,
        "price": str(decimal_amount(row.price_minor, "USD")),
        "compareAtPrice": compare,
        "inventoryQuantity": row.inventory,
        "inventoryPolicy": "DENY",
        "inventoryItem": {"id": gid("InventoryItem", row.id + 500), "tracked": True},
        "selectedOptions": [{"name": "Size", "value": row.title}],
        "createdAt": rfc3339(parent.created_at),
        "updatedAt": rfc3339(parent.updated_at),
        "number": row.id,
    }


def order(row: Order, payment: Payment | None, person: Person | None) -> Node:
    """One order with its lines and transactions. Presented money is the shop's at the buyer's own rate."""
    money = _Money(row)
    return {
        "id": gid("Order", row.id),
        "legacyResourceId": str(row.id),
        "name": row.name,
        "test": False,
        "edited": False,
        "createdAt": rfc3339(row.created_at),
        "updatedAt": rfc3339(row.updated_at),
        "processedAt": rfc3339(row.created_at),
        "cancelledAt": None if row.cancelled_at is None else rfc3339(row.cancelled_at),
        "email": row.known.email,
        "phone": row.known.phone,
        "currencyCode": row.currency,
        "presentmentCurrencyCode": row.presented_currency,
        "displayFinancialStatus": row.financial_status.upper(),
        "displayFulfillmentStatus": "FULFILLED" if row.fulfilled else "UNFULFILLED",
        "subtotalPriceSet": money.bag(row.subtotal_minor - row.discount_minor),
        "totalDiscountsSet": money.bag(row.discount_minor),
        "totalShippingPriceSet": money.bag(row.shipping_minor),
        "totalTaxSet": money.bag(row.tax_minor),
        "totalPriceSet": money.bag(row.total_minor),
        "totalReceivedSet": money.bag(row.total_minor if row.financial_status not in UNPAID else 0),
        "totalRefundedSet": money.bag(row.refunded_minor),
        "paymentGatewayNames": [row.gateway],
        "customAttributes": _attributes(row),
        "customer": None if person is None else _customer(person),
        "lineItems": [_line(part, money) for part in row.lines],
        "transactions": _transactions(row, payment, money),
        "fulfillments": _fulfillments(row),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "processed_at": row.created_at,
        "financial_status": row.financial_status,
        "number": row.id,
    }


class _Money:
    def __init__(self, row: Order) -> None:
        self._row = row

    def bag(self, minor: int) -> Node:
        """An amount of the shop's currency, and its share of what the buyer was shown."""
        row = self._row
        presented = row.presented_total_minor * minor // row.total_minor
        return {
            "shopMoney": {"amount": str(decimal_amount(minor, row.currency)), "currencyCode": row.currency},
            "presentmentMoney": {
                "amount": str(decimal_amount(presented, row.presented_currency)),
                "currencyCode": row.presented_currency,
            },
        }


def _attributes(row: Order) -> list[Node]:
    """What the shop's own script wrote into the cart: the visitor's id and the click that it remembered."""
    pairs = {"tl_anonymous_id": row.known.anonymous_id}
    if row.carries is not None:
        kind, click, ad, at = row.carries
        pairs |= {
            "tl_ad_platform": "meta",
            "tl_ad_id": ad,
            "tl_click_id_type": kind,
            "tl_click_id": click,
            "tl_touch_at": rfc3339(at),
        }
    return [{"key": key, "value": value} for key, value in pairs.items() if value is not None]


def _customer(person: Person) -> Node:
    number = 7_300_000_000_000 + person.index
    return {
        "id": gid("Customer", number),
        "legacyResourceId": str(number),
        "firstName": person.first_name,
        "lastName": person.last_name,
        "email": person.email,
        "phone": person.phone,
        "defaultEmailAddress": {"emailAddress": person.email},
        "defaultPhoneNumber": {"phoneNumber": person.phone},
    }


def _line(part: OrderLine, money: _Money) -> Node:
    return {
        "id": gid("LineItem", part.id),
        "title": part.title,
        "name": part.title,
        "quantity": part.quantity,
        "sku": part.sku,
        "originalUnitPriceSet": money.bag(part.price_minor),
        # the world's shop takes its discounts off whole orders
        "totalDiscountSet": money.bag(0),
        "product": {"id": gid("Product", part.product_id), "legacyResourceId": str(part.product_id)},
        "variant": {"id": gid("ProductVariant", part.variant_id), "legacyResourceId": str(part.variant_id)},
        "number": part.id,
    }


def _fulfillments(row: Order) -> list[Node]:
    if not row.fulfilled:
        return []
    return [
        {
            "id": gid("Fulfillment", row.id + 3),
            "createdAt": rfc3339(row.created_at),
            "updatedAt": rfc3339(row.updated_at),
        }
    ]


def _transactions(row: Order, payment: Payment | None, money: _Money) -> list[Node]:
    if row.financial_status in UNPAID:
        return []
    sale = _transaction(row, 0, "SALE", row.created_at, row.intent_id, money.bag(row.total_minor))
    if row.intent_id is None:
        refunded = [(row.updated_at, row.refunded_minor)] if row.refunded_minor else []
    else:
        taken = [part for part in payment.refunds if part.status == "succeeded"] if payment else []
        whole = payment.amount_minor if payment else 1
        refunded = [(part.at, row.total_minor * part.amount_minor // whole) for part in taken]
    refunds = [
        _transaction(row, index, "REFUND", at, row.intent_id, money.bag(minor))
        for index, (at, minor) in enumerate(refunded, 1)
    ]
    return [sale, *refunds]


def _transaction(row: Order, index: int, kind: str, at: int, code: str | None, amount: Node) -> Node:
    return {
        "id": gid("OrderTransaction", row.id * 2 + 8 + index),
        "kind": kind,
        "status": "SUCCESS",
        "gateway": row.gateway,
        "authorizationCode": code,
        "createdAt": rfc3339(at),
        "processedAt": rfc3339(at),
        "test": False,
        "amountSet": amount,
    }
