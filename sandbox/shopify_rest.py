"""The older REST lists of the Shopify face: products, orders and the shop, paged by Link header."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

from flask import Request, Response, jsonify

from sandbox.shopify_objects import SHOP, Node

FULFILMENT = {"FULFILLED": "fulfilled", "UNFULFILLED": None}


class RestPages:
    """Products and orders in REST's spelling, by id."""

    def __init__(self, products: list[Node], orders: list[Node]) -> None:
        self._nodes = {"products": products, "orders": orders}

    def page(self, version: str, kind: str, request: Request) -> Response:
        """One page of `limit` (1-250, 50) rows; `rel="next"` in Link names the next one."""
        if kind == "shop":
            return _answer(version, {"shop": _shop()})
        if kind not in self._nodes:
            return _answer(version, {"errors": "Not Found"}, 404)
        text = request.args.get("limit", "50")
        if not text.isdigit() or not 1 <= int(text) <= 250:
            return _answer(version, {"errors": {"limit": "must be between 1 and 250"}}, 400)
        asked = self._asked(request)
        nodes = [node for node in self._nodes[kind] if _passes(node, asked)]
        nodes.sort(key=lambda node: node["number"])
        rows = nodes[: int(text)]
        response = _answer(version, {kind: [_spelt(kind, node) for node in rows]})
        if len(nodes) > len(rows):
            following = {**asked, "since_id": str(rows[-1]["number"])}
            token = base64.urlsafe_b64encode(json.dumps(following).encode()).decode()
            response.headers["Link"] = f'<{request.base_url}?limit={text}&page_info={token}>; rel="next"'
        return response

    def one(self, version: str, kind: str, number: int) -> Response:
        """One product or order by its number, else 404."""
        for node in self._nodes.get(kind, []):
            if node["number"] == number:
                return _answer(version, {kind.removesuffix("s"): _spelt(kind, node)})
        return _answer(version, {"errors": "Not Found"}, 404)

    def _asked(self, request: Request) -> dict[str, str]:
        token = request.args.get("page_info")
        if token is None:
            names = ("since_id", "updated_at_min", "created_at_min", "financial_status")
            return {name: request.args[name] for name in names if name in request.args}
        found: dict[str, str] = json.loads(base64.urlsafe_b64decode(token))
        return found


def _passes(node: Node, asked: dict[str, str]) -> bool:
    for name in ("updated_at", "created_at"):
        since = asked.get(f"{name}_min")
        if since is not None and node[name] < datetime.fromisoformat(since).timestamp():
            return False
    status = asked.get("financial_status", "any")
    return node["number"] > int(asked.get("since_id", 0)) and status in ("any", node.get("financial_status"))


def _answer(version: str, body: dict[str, Any], status: int = 200) -> Response:
    response = jsonify(body)
    response.status_code = status
    response.headers["X-Shopify-Shop-Api-Call-Limit"] = "1/40"
    response.headers["X-Shopify-API-Version"] = version
    return response


def _shop() -> dict[str, Any]:
    return {
        "id": int(SHOP["id"].rpartition("/")[2]),
        "name": SHOP["name"],
        "myshopify_domain": SHOP["myshopifyDomain"],
        "currency": SHOP["currencyCode"],
        "iana_timezone": SHOP["ianaTimezone"],
    }


def _spelt(kind: str, node: Node) -> dict[str, Any]:
    return _product(node) if kind == "products" else _order(node)


def _product(node: Node) -> dict[str, Any]:
    return {
        "id": node["number"],
        "admin_graphql_api_id": node["id"],
        "title": node["title"],
        "handle": node["handle"],
        "status": node["status"].lower(),
        "vendor": node["vendor"],
        "product_type": node["productType"],
        "tags": ", ".join(node["tags"]),
        "created_at": node["createdAt"],
        "updated_at": node["updatedAt"],
        "variants": [
            {
                "id": part["number"],
                "product_id": node["number"],
                "title": part["title"],
                "sku": part["sku"],
                "barcode": part["barcode"],
                "position": part["position"],
                "price": part["price"],
                "compare_at_price": part["compareAtPrice"],
                "inventory_quantity": part["inventoryQuantity"],
                "inventory_policy": part["inventoryPolicy"].lower(),
            }
            for part in node["variants"]
        ],
    }


def _order(node: Node) -> dict[str, Any]:
    def shop_money(name: str) -> str:
        amount: str = node[name]["shopMoney"]["amount"]
        return amount

    return {
        "id": node["number"],
        "admin_graphql_api_id": node["id"],
        "name": node["name"],
        "email": node["email"],
        "phone": node["phone"],
        "test": node["test"],
        "created_at": node["createdAt"],
        "updated_at": node["updatedAt"],
        "processed_at": node["processedAt"],
        "cancelled_at": node["cancelledAt"],
        "currency": node["currencyCode"],
        "presentment_currency": node["presentmentCurrencyCode"],
        "financial_status": node["financial_status"],
        "fulfillment_status": FULFILMENT[node["displayFulfillmentStatus"]],
        "payment_gateway_names": node["paymentGatewayNames"],
        "subtotal_price": shop_money("subtotalPriceSet"),
        "total_discounts": shop_money("totalDiscountsSet"),
        "total_tax": shop_money("totalTaxSet"),
        "total_price": shop_money("totalPriceSet"),
        "total_price_set": {"shop_money": _bag(node, "shopMoney"), "presentment_money": _bag(node, "presentmentMoney")},
        "note_attributes": [{"name": row["key"], "value": row["value"]} for row in node["customAttributes"]],
        "line_items": [_line(part) for part in node["lineItems"]],
    }


def _bag(node: Node, name: str) -> dict[str, str]:
    money = node["totalPriceSet"][name]
    return {"amount": money["amount"], "currency_code": money["currencyCode"]}


def _line(part: Node) -> dict[str, Any]:
    return {
        "id": part["number"],
        "title": part["title"],
        "quantity": part["quantity"],
        "sku": part["sku"],
        "price": part["originalUnitPriceSet"]["shopMoney"]["amount"],
        "product_id": int(part["product"]["legacyResourceId"]),
        "variant_id": int(part["variant"]["legacyResourceId"]),
    }
