"""Deliveries as a store sends them: their bodies, headers and signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

SECRET, BEFORE = "shpss_the_newest", "shpss_the_one_before"
SHOP = "alder-finch.myshopify.com"


def signed(
    topic: str,
    body: dict[str, Any] | bytes,
    *,
    secret: str = SECRET,
    number: str = "d-1",
    shop: str = SHOP,
    number_header: str = "X-Shopify-Webhook-Id",
    **headers: str,
) -> tuple[bytes, dict[str, str]]:
    """The bytes and the headers of one delivery; more headers are given with underscores."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    mac = hmac.digest(secret.encode(), content, hashlib.sha256)
    return content, {
        "Content-Type": "application/json",
        "X-Shopify-Topic": topic,
        "X-Shopify-Hmac-Sha256": base64.b64encode(mac).decode(),
        "X-Shopify-Shop-Domain": shop,
        number_header: number,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
