"""What the faces share: the credentials they take, and where vendors' clients carry them."""

from __future__ import annotations

from flask import Request

TOKENS = {
    "meta": "EAAsandboxMetaTokenOfNobody",
    "shopify": "shpat_sandbox00000000000000",
    "stripe": "sk_test_sandbox00000000000000",
    "tiktok": "sandboxtiktoktokenofnobody00000000000000",
    "google": "1//sandboxGoogleRefreshTokenOfNobody",
}


def accepted(vendor: str, request: Request) -> bool:
    """Whether the request carries the vendor's token, in any of the places where its clients put it."""
    basic = request.authorization.username if request.authorization and request.authorization.type == "basic" else None
    carried = (
        request.headers.get("Authorization", "").partition(" ")[2],
        basic,
        request.headers.get("X-Shopify-Access-Token"),
        request.headers.get("Access-Token"),
        request.args.get("access_token"),
        request.form.get("access_token"),
    )
    return TOKENS[vendor] in carried
