"""What a person's yes at TikTok is worth: a token that does not end by itself, and the advertisers that it opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from connectors.ad_platform import Row
from connectors.grants import MOST_ACCOUNTS, Account, Asking, Grant, text
from connectors.tiktok_api import VERSION, packed, rows_of
from connectors.tiktok_dialect import TikTokDialect
from connectors.tiktok_rows import zone
from connectors.transport import Request

AT_ONCE = 100
# closed, suspended, turned down: those that are looked into, or whose owner changed something, are not
CLOSED = {"STATUS_DISABLE", "STATUS_LIMIT", "STATUS_CONFIRM_FAIL", "STATUS_CONFIRM_FAIL_END"}


def read(asking: Asking) -> Grant:
    """Redeem the code, and see which advertisers are opened by it."""
    client = asking.client
    app = {"app_id": client.client_id, "secret": client.client_secret}
    told = _asked(asking, "POST", "oauth2/access_token", document={**app, "auth_code": asking.code})
    token = text(told["access_token"])
    headers = {"Access-Token": token}
    opened = rows_of(_asked(asking, "GET", "oauth2/advertiser/get", params=app, headers=headers))[:MOST_ACCOUNTS]
    accounts: list[Account] = []
    for start in range(0, len(opened), AT_ONCE):
        accounts += _accounts(asking, headers, [text(row["advertiser_id"]) for row in opened[start : start + AT_ONCE]])
    return Grant(token, [str(one) for one in told["scope"]], accounts)


def _accounts(asking: Asking, headers: Mapping[str, str], ids: Sequence[str]) -> list[Account]:
    found = _asked(asking, "GET", "advertiser/info", params={"advertiser_ids": packed(ids)}, headers=headers)
    return [_account(row) for row in rows_of(found)]


def _account(row: Row) -> Account:
    reason = "account_disabled" if row["status"] in CLOSED else None
    return Account(text(row["advertiser_id"]), text(row["name"]), row["currency"], zone(row), reason)


def _asked(
    asking: Asking,
    method: str,
    path: str,
    *,
    params: Mapping[str, str] | None = None,
    document: Row | None = None,
    headers: Mapping[str, str] | None = None,
) -> Mapping[str, Any]:
    # TikTok refuses with HTTP 200, which the dialect that all hand-offs share takes for an answer
    url = asking.address(f"{VERSION}/{path}/")
    request = Request(method, url, params=params or {}, document=document, headers=headers or {})
    hidden = (asking.code, asking.client.client_secret, *request.headers.values())
    data = asking.transport.send(request, TikTokDialect(), secrets=hidden).body["data"]
    return dict(data)
