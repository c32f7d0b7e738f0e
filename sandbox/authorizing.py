"""Letting an app in: each face's consent page, its token endpoint, and the accounts that a token opens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from html import escape
from threading import Lock
from typing import Any
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Flask, Response, jsonify, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from sandbox import chatapp, google_ads, refusals
from sandbox.ad_catalogue import ACCOUNTS
from sandbox.faces import TOKENS, accepted
from sandbox.faults import struck
from sandbox.shopify_objects import SHOP
from sandbox.tiktok_world import ADVERTISERS

# the app that every deployment is here
CLIENT_ID, CLIENT_SECRET = "touchledger", "touchledger-sandbox"
PAYEE = {"id": "acct_1AlderFinch", "name": "Alder & Finch payments"}
# what Meta gives for a code ends within hours and is good here for nothing but the exchange
PASSING = "EAAsandboxMetaTokenOfHours"
GRAPH = "/meta/v26.0"
OPEN_API = "/tiktok/open_api/v1.3"
# what a store's own token may do
SCOPES = ("read_products", "read_orders", "read_all_orders")
# where each decides, with what it calls an app's id and the code that people are sent back with
PAGES = {
    f"{GRAPH}/dialog/oauth": ("client_id", "code"),
    "/shopify/admin/oauth/authorize": ("client_id", "code"),
    "/stripe/oauth/authorize": ("client_id", "code"),
    "/tiktok/portal/auth": ("app_id", "auth_code"),
    "/google/o/oauth2/v2/auth": ("client_id", "code"),
}
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sandbox: let an app in</title>
<main><h1>Let {app} in?</h1><p>It asks for: {scope}</p>
<form method="post"><button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button></form></main>"""


@dataclass
class Codes:
    """Codes that were given out and not redeemed yet, each with where it was sent and what it is for."""

    given: dict[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    lock: Lock = field(default_factory=Lock, repr=False)

    def give(self, back: str, scope: str) -> str:
        """A new code."""
        code = secrets.token_urlsafe(24)
        with self.lock:
            self.given[code] = (back, scope)
        return code

    def take(self, form: Any, *, names_address: bool = True) -> str | None:
        """What was granted, once, to our app coming from the same address; None for anything else.

        TikTok's form names no address.
        """
        with self.lock:
            back, scope = self.given.pop(form.get("code", ""), ("", ""))
        same = form.get("redirect_uri") == back or not names_address
        return scope if back and _is_ours(form) and same else None


def install(app: Flask) -> None:
    """Add the pages and endpoints to the sandbox."""
    codes, face = Codes(), Blueprint("authorizing", __name__)
    for number, path in enumerate(PAGES):
        face.add_url_rule(path, f"asked_{number}", _ask, methods=["GET"])
        face.add_url_rule(path, f"decided_{number}", lambda: _decide(codes), methods=["POST"])
    _tokens(face, codes)
    _accounts(face)
    _advertisers(face, codes)
    app.register_blueprint(face)


def _ask() -> Response:
    if not _is_known() or not request.args.get("redirect_uri"):
        return Response("unknown app", 400, mimetype="text/plain")
    shown = {"app": escape(CLIENT_ID), "scope": escape(request.args.get("scope", ""))}
    return Response(_PAGE.format(**shown), mimetype="text/html")


def _is_known() -> bool:
    return request.args.get(PAGES[request.path][0]) == CLIENT_ID


def _decide(codes: Codes) -> AnyResponse:
    back = request.args.get("redirect_uri", "")
    if not _is_known() or urlsplit(back).scheme not in {"http", "https"}:
        return Response("unknown app", 400, mimetype="text/plain")
    if request.form.get("decision") == "allow":
        told = {PAGES[request.path][1]: codes.give(back, request.args.get("scope", ""))}
    else:
        told = {"error": "access_denied", "error_description": "The person said no"}
    return redirect(f"{back}?{urlencode({**told, 'state': request.args.get('state', '')})}", 302)


def _tokens(face: Blueprint, codes: Codes) -> None:
    def redeemed(vendor: str, told: dict[str, Any]) -> tuple[Response, int]:
        scope = codes.take(request.form)
        if scope is None:
            return jsonify(error="invalid_grant", error_description="the code is not known"), 400
        return jsonify({"access_token": TOKENS[vendor], "scope": scope, **told}), 200

    face.add_url_rule(
        f"{GRAPH}/oauth/access_token",
        "graph_token",
        lambda: _lasting() or redeemed("meta", {"access_token": PASSING, "token_type": "bearer", "expires_in": 5183}),
        methods=["POST"],
    )

    face.add_url_rule(
        "/shopify/admin/oauth/access_token", "store_token", lambda: redeemed("shopify", {}), methods=["POST"]
    )
    face.add_url_rule(
        "/stripe/oauth/token",
        "payments_token",
        lambda: redeemed("stripe", {"token_type": "bearer", "stripe_user_id": PAYEE["id"], "livemode": False}),
        methods=["POST"],
    )

    @face.post("/google/token")
    def google_token() -> tuple[Response, int]:
        told = {"access_token": google_ads.ACCESS, "expires_in": 3599, "token_type": "Bearer"}
        if request.form.get("grant_type") != "refresh_token":
            return redeemed("google", {**told, "refresh_token": TOKENS["google"]})
        if not _is_ours(request.form):
            return jsonify(error="invalid_client"), 401
        if request.form.get("refresh_token") != TOKENS["google"]:
            return jsonify(error="invalid_grant", error_description="Token has been expired or revoked."), 400
        return jsonify(told), 200


def _is_ours(form: Any) -> bool:
    known = hmac.compare_digest(form.get("client_secret", "").encode(), CLIENT_SECRET.encode())
    return known and form.get("client_id") == CLIENT_ID


def _lasting() -> tuple[Response, int] | None:
    """Meta's answer to who asks for its token of sixty days; None where something else is asked for."""
    if request.form.get("grant_type") != "fb_exchange_token":
        return None
    if not _is_ours(request.form) or request.form.get("fb_exchange_token") != PASSING:
        return jsonify(error={"message": "Invalid OAuth access token", "type": "OAuthException", "code": 190}), 400
    return jsonify({"access_token": TOKENS["meta"], "token_type": "bearer", "expires_in": 5184000}), 200


def unproven() -> Response | None:
    """Meta's refusal of a call whose proof is of another secret, or that has none while the app demands one."""
    wanted = hmac.new(CLIENT_SECRET.encode(), TOKENS["meta"].encode(), hashlib.sha256).hexdigest()
    given = request.values.get("appsecret_proof", "")
    is_demanded = struck("secret_required")
    if given and given != wanted:
        return refusals.meta_error(100, "Invalid appsecret_proof provided in the API argument")
    if is_demanded and not given:
        return refusals.meta_error(100, "API calls from the server require an appsecret_proof argument")
    return None


def _accounts(face: Blueprint) -> None:
    @face.get(f"{GRAPH}/me/permissions")
    def permissions() -> AnyResponse:
        names = ("ads_read", "ads_management", "business_management", "whatsapp_business_management")
        return _opened("meta", {"data": [{"permission": name, "status": "granted"} for name in names]})

    @face.get(f"{GRAPH}/me/adaccounts")
    def ad_accounts() -> AnyResponse:
        rows = [
            {
                "id": f"act_{row.id}",
                "account_id": row.id,
                "name": row.name,
                "currency": row.currency,
                "timezone_name": row.time_zone,
                "account_status": 1,
            }
            for row in ACCOUNTS
        ]
        return _opened("meta", {"data": rows, "paging": {"cursors": {"before": "MA", "after": "MQ"}}})

    @face.get(f"{GRAPH}/me/assigned_whatsapp_business_accounts")
    def business_accounts() -> AnyResponse:
        return _opened("meta", {"data": [{"id": chatapp.ACCOUNT, "name": "Alder & Finch", "currency": "USD"}]})

    @face.get("/shopify/admin/api/2026-10/shop.json")
    def shop() -> AnyResponse:
        names = {"myshopify_domain": "myshopifyDomain", "currency": "currencyCode", "iana_timezone": "ianaTimezone"}
        return _opened("shopify", {"shop": {"name": SHOP["name"], **{name: SHOP[of] for name, of in names.items()}}})

    @face.get("/shopify/admin/oauth/access_scopes.json")
    def scopes() -> AnyResponse:
        kept = request.environ["sandbox.fault"].code.split(",") if struck("scope_missing") else ()
        return _opened("shopify", {"access_scopes": [{"handle": one} for one in SCOPES if one not in kept]})

    @face.get("/stripe/v1/account")
    def payee() -> AnyResponse:
        profile = {"name": PAYEE["name"]}
        return _opened(
            "stripe",
            {"id": PAYEE["id"], "object": "account", "business_profile": profile, "default_currency": "usd"},
        )


def _advertisers(face: Blueprint, codes: Codes) -> None:
    @face.post(f"{OPEN_API}/oauth2/access_token/")
    def tiktok_token() -> Response:
        told = request.get_json()
        names = {"code": "auth_code", "client_id": "app_id", "client_secret": "secret"}
        form = {name: str(told.get(theirs)) for name, theirs in names.items()}
        if codes.take(form, names_address=False) is None:
            return refusals.tiktok_error(40110, "Auth code is incorrect or has expired.")
        ids = [row.id for row in ADVERTISERS]
        return refusals.tiktok({"access_token": TOKENS["tiktok"], "advertiser_ids": ids, "scope": [1, 2, 4, 6]})

    @face.get(f"{OPEN_API}/oauth2/advertiser/get/")
    def advertisers() -> Response:
        if not accepted("tiktok", request) or request.args.get("secret") != CLIENT_SECRET:
            return refusals.revoked("tiktok")
        rows = [{"advertiser_id": row.id, "advertiser_name": row.name} for row in ADVERTISERS]
        return refusals.tiktok({"list": rows})


def _opened(vendor: str, body: dict[str, Any]) -> AnyResponse:
    if not accepted(vendor, request):
        told = {"message": "Invalid OAuth access token", "type": "OAuthException", "code": 190}
        return refusals.answer({"error": told}, 401)
    refused = unproven() if vendor == "meta" else None
    return refused or jsonify(body)
