"""Being let in: the page on which the owner of an account decides, and what their yes is worth (OAuth, code flow)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlencode

from connectors.errors import ConnectorError, Malformed, Refused, Revoked, Throttled, Transient
from connectors.meta_graph import VERSION as GRAPH_VERSION
from connectors.shopify_graph import VERSION as ADMIN_VERSION
from connectors.transport import Answer, Request, Transport

MOST_ACCOUNTS = 500
_PAGE = 100
_LIVE_ACCOUNT = 1


@dataclass(frozen=True, slots=True)
class Client:
    """What a provider knows this deployment as. `page` is where people decide, `base_url` where it is asked."""

    provider: str
    client_id: str
    client_secret: str = field(repr=False)
    page: str
    base_url: str
    is_sandbox: bool

    def address(self, *, state: str, back: str) -> str:
        """The page to send a person to; the provider sends them on to `back`, with `state`."""
        asked = {"client_id": self.client_id, "redirect_uri": back, "response_type": "code", "state": state}
        return f"{self.page}?{urlencode({**asked, 'scope': SCOPES[self.provider]})}"


@dataclass(frozen=True, slots=True)
class Account:
    """An account that was opened to us; one that is closed at the provider itself carries a `reason`."""

    external_account_id: str
    name: str
    currency: str | None = None
    timezone: str | None = None
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """As it is kept until somebody chooses."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person let us in with, and to."""

    token: str = field(repr=False)
    scopes: Sequence[str]
    accounts: Sequence[Account]


# how each provider names what we ask for
SCOPES = {
    "meta": "ads_read,ads_management,business_management",
    "chatapp": "whatsapp_business_management,whatsapp_business_messaging",
    "shopify": "read_products,read_orders",
    "stripe": "read_write",
}


def redeem(client: Client, transport: Transport, *, code: str, back: str) -> Grant:
    """Turn the code that a person came back with into a token, and see which accounts it opens.

    Raises only `connectors.errors`; no message holds the code, the secret or the token.
    """
    try:
        return _READERS[client.provider](_Asking(client, transport, code, back))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Malformed(client.provider, "a grant is not as promised") from None


class _Dialect:
    """The refusals of token endpoints, and of the few reads behind them."""

    def __init__(self, provider: str) -> None:
        self.provider = provider

    def judge(self, answer: Answer) -> None:
        kinds: Sequence[tuple[bool, type[ConnectorError]]] = (
            (answer.status == 429, Throttled),
            (answer.status >= 500, Transient),
            (answer.status == 401, Revoked),
            (answer.status >= 400, Refused),
            (not answer.is_json or not isinstance(answer.body, dict), Malformed),
        )
        for applies, kind in kinds:
            if applies:
                # its words may repeat what was sent
                raise kind(self.provider, "the grant was not redeemed", status=answer.status)

    def pause_after(self, answer: Answer) -> float:
        return 0.0


@dataclass
class _Asking:
    client: Client
    transport: Transport
    code: str = field(repr=False)
    back: str

    def token(self, path: str, **more: str) -> Mapping[str, Any]:
        client = self.client
        form = {"client_id": client.client_id, "client_secret": client.client_secret, "code": self.code, **more}
        return self._send(Request("POST", f"{client.base_url}/{path}", form={**form, "redirect_uri": self.back}))

    def get(self, path: str, headers: Mapping[str, str], **params: str) -> Mapping[str, Any]:
        return self._send(Request("GET", f"{self.client.base_url}/{path}", params=params, headers=headers))

    def _send(self, request: Request) -> Mapping[str, Any]:
        hidden = (self.code, self.client.client_secret, *request.headers.values())
        return dict(self.transport.send(request, _Dialect(self.client.provider), secrets=hidden).body)


def _graph(asking: _Asking, edge: str, fields: str, read: Callable[[Mapping[str, Any]], Account]) -> Grant:
    token = _text(asking.token(f"{GRAPH_VERSION}/oauth/access_token")["access_token"])
    bearer = {"Authorization": f"Bearer {token}"}
    asked = asking.get(f"{GRAPH_VERSION}/me/permissions", bearer)["data"]
    scopes = [_text(row["permission"]) for row in asked if row["status"] == "granted"]
    found: list[Account] = []
    after: dict[str, str] = {}
    while len(found) < MOST_ACCOUNTS:
        page = asking.get(f"{GRAPH_VERSION}/me/{edge}", bearer, fields=fields, limit=str(_PAGE), **after)
        found += [read(row) for row in page["data"]]
        if not page["data"] or "next" not in page.get("paging", {}):
            break
        after = {"after": _text(page["paging"]["cursors"]["after"])}
    return Grant(token, scopes, found)


def _meta(asking: _Asking) -> Grant:
    return _graph(asking, "adaccounts", "account_id,name,currency,timezone_name,account_status", _ad_account)


def _ad_account(row: Mapping[str, Any]) -> Account:
    reason = None if row["account_status"] == _LIVE_ACCOUNT else "account_disabled"
    return Account(_text(row["account_id"]), _text(row["name"]), row.get("currency"), row.get("timezone_name"), reason)


def _chatapp(asking: _Asking) -> Grant:
    return _graph(asking, "assigned_whatsapp_business_accounts", "id,name,currency", _business_account)


def _business_account(row: Mapping[str, Any]) -> Account:
    return Account(_text(row["id"]), _text(row["name"]), row.get("currency"))


def _shopify(asking: _Asking) -> Grant:
    told = asking.token("admin/oauth/access_token")
    token = _text(told["access_token"])
    shop = asking.get(f"admin/api/{ADMIN_VERSION}/shop.json", {"X-Shopify-Access-Token": token})["shop"]
    handle = _text(shop["myshopify_domain"]).partition(".")[0]
    account = Account(handle, _text(shop["name"]), shop.get("currency"), shop.get("iana_timezone"))
    return Grant(token, _words(told["scope"]), [account])


def _stripe(asking: _Asking) -> Grant:
    told = asking.token("oauth/token", grant_type="authorization_code")
    token = _text(told["access_token"])
    row = asking.get("v1/account", {"Authorization": f"Bearer {token}"})
    account = Account(_text(row["id"]), _text(row["business_profile"]["name"]), row["default_currency"].upper())
    return Grant(token, _words(told["scope"]), [account])


def _words(scope: str) -> list[str]:
    return [one for one in scope.replace(",", " ").split() if one]


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


_READERS: Mapping[str, Callable[[_Asking], Grant]] = {
    "meta": _meta,
    "chatapp": _chatapp,
    "shopify": _shopify,
    "stripe": _stripe,
}
