"""Being let in: the page on which the owner of an account decides, and what their yes is worth (OAuth, code flow)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from connectors import google_grant, tiktok_grants
from connectors.errors import Malformed
from connectors.grants import MOST_ACCOUNTS, Account, Asking, Client, Grant, Way, text, words
from connectors.meta_graph import VERSION as GRAPH_VERSION
from connectors.meta_graph import proved
from connectors.meta_rows import CLOSED_ACCOUNTS
from connectors.shopify_graph import VERSION as ADMIN_VERSION
from connectors.shopify_graph import handle
from connectors.transport import Request, Transport

_PAGE = 100


def address(client: Client, *, state: str, back: str) -> str:
    """The page to send a person to; the provider sends them on to `back`, with `state`."""
    way = WAYS[client.provider]
    asked = {way.client_field: client.client_id, "redirect_uri": back, "response_type": "code", "state": state}
    return f"{client.page}?{urlencode({**asked, **({'scope': way.scope} if way.scope else {}), **way.more})}"


def code_in(provider: str, params: Mapping[str, str]) -> str:
    """The code that somebody came back with, "" where there is none: they said no."""
    return params.get(WAYS[provider].code_field, "") if provider in WAYS else ""


def redeem(client: Client, transport: Transport, *, code: str, back: str) -> Grant:
    """Turn the code that a person came back with into a token, and see which accounts it opens.

    Raises only `connectors.errors`; no message holds the code, the secret or the token.
    """
    try:
        return WAYS[client.provider].read(Asking(client, transport, code, back))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Malformed(client.provider, "a grant is not as promised") from None


def opened(client: Client, transport: Transport, token: str) -> Grant:
    """What a token opens that an account's owner made at the provider itself; for the providers of `BY_TOKEN`.

    Raises only `connectors.errors`; no message holds the token.
    """
    try:
        return BY_TOKEN[client.provider](Asking(client, transport, token, ""), token)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Malformed(client.provider, "an account is not as promised") from None


def _graph(asking: Asking, edge: str, fields: str, read: Callable[[Mapping[str, Any]], Account]) -> Grant:
    token = _lasting(asking, asking.token(f"{GRAPH_VERSION}/oauth/access_token"))
    bearer, proof = {"Authorization": f"Bearer {token}"}, proved(token, asking.client.client_secret)
    asked = asking.get(f"{GRAPH_VERSION}/me/permissions", bearer, **proof)["data"]
    scopes = [text(row["permission"]) for row in asked if row["status"] == "granted"]
    found: list[Account] = []
    more = {"fields": fields, "limit": str(_PAGE), **proof}
    while len(found) < MOST_ACCOUNTS:
        page = asking.get(f"{GRAPH_VERSION}/me/{edge}", bearer, **more)
        found += [read(row) for row in page["data"]]
        if not page["data"] or "next" not in page.get("paging", {}):
            break
        more["after"] = text(page["paging"]["cursors"]["after"])
    return Grant(token, scopes, found)


def _lasting(asking: Asking, told: Mapping[str, Any]) -> str:
    """The token that a code gave, or the one of sixty days for it: one that ends does so within hours at first."""
    token, client = text(told["access_token"]), asking.client
    if not told.get("expires_in"):
        return token
    # Meta's guides ask by GET; in a form the secret stands in no address, and Meta takes that too
    form = {"client_id": client.client_id, "client_secret": client.client_secret}
    form |= {"grant_type": "fb_exchange_token", "fb_exchange_token": token}
    asked = Request("POST", asking.address(f"{GRAPH_VERSION}/oauth/access_token"), form=form)
    return text(asking.send(asked)["access_token"])


def _meta(asking: Asking) -> Grant:
    return _graph(asking, "adaccounts", "account_id,name,currency,timezone_name,account_status", _ad_account)


def _ad_account(row: Mapping[str, Any]) -> Account:
    reason = "account_disabled" if row["account_status"] in CLOSED_ACCOUNTS else None
    return Account(text(row["account_id"]), text(row["name"]), row.get("currency"), row.get("timezone_name"), reason)


def _chatapp(asking: Asking) -> Grant:
    return _graph(asking, "assigned_whatsapp_business_accounts", "id,name,currency", _business_account)


def _business_account(row: Mapping[str, Any]) -> Account:
    return Account(text(row["id"]), text(row["name"]), row.get("currency"))


def _shopify(asking: Asking) -> Grant:
    told = asking.token("admin/oauth/access_token")
    token = text(told["access_token"])
    return Grant(token, words(told["scope"]), [_store(asking, token)])


def _own_store(asking: Asking, token: str) -> Grant:
    account = _store(asking, token)
    told = asking.get("admin/oauth/access_scopes.json", {"X-Shopify-Access-Token": token})
    return Grant(token, [text(one["handle"]) for one in told["access_scopes"]], [account])


def _store(asking: Asking, token: str) -> Account:
    shop = asking.get(f"admin/api/{ADMIN_VERSION}/shop.json", {"X-Shopify-Access-Token": token})["shop"]
    return Account(
        handle(text(shop["myshopify_domain"])), text(shop["name"]), shop.get("currency"), shop.get("iana_timezone")
    )


def _stripe(asking: Asking) -> Grant:
    told = asking.token("oauth/token", grant_type="authorization_code")
    token = text(told["access_token"])
    return Grant(token, words(told["scope"]), [_processor(asking, token)])


def _own_processor(asking: Asking, token: str) -> Grant:
    # a key does not tell its rights
    return Grant(token, (), [_processor(asking, token)])


def _processor(asking: Asking, token: str) -> Account:
    row = asking.get("v1/account", {"Authorization": f"Bearer {token}"})
    number, currency = text(row["id"]), row.get("default_currency")
    profile, dashboard = row.get("business_profile") or {}, (row.get("settings") or {}).get("dashboard") or {}
    name = profile.get("name") or dashboard.get("display_name") or number
    return Account(number, text(name), currency.upper() if currency else None)


WAYS: Mapping[str, Way] = {
    "meta": Way("ads_read,ads_management,business_management", _meta),
    "google": google_grant.WAY,
    "chatapp": Way("whatsapp_business_management,whatsapp_business_messaging", _chatapp),
    "shopify": Way("read_products,read_orders", _shopify),
    "stripe": Way("read_write", _stripe),
    # what is asked for stands in the app's own settings there
    "tiktok": Way("", tiktok_grants.read, client_field="app_id", code_field="auth_code"),
}
BY_TOKEN: Mapping[str, Callable[[Asking, str], Grant]] = {"shopify": _own_store, "stripe": _own_processor}
