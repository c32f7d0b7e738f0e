"""What a yes at Google's consent page is worth: a refresh token, and the customers that it reaches."""

from __future__ import annotations

from collections.abc import Iterator

from connectors import google_queries
from connectors.ad_platform import Row
from connectors.apps import App
from connectors.errors import Refused
from connectors.google_api import GoogleApi, token_address
from connectors.grants import MOST_ACCOUNTS, Account, Asking, Grant, Way, text, words

SCOPE = "https://www.googleapis.com/auth/adwords"


def read(asking: Asking) -> Grant:
    """The grant; Google gives a refresh token only when it is asked for consent anew, as `WAY` does."""
    told = asking.token(token_address(asking.client.base_url), grant_type="authorization_code")
    refresh_token = text(told["refresh_token"])
    return Grant(refresh_token, words(text(told["scope"])), list(_accounts(asking, refresh_token)))


def _accounts(asking: Asking, refresh_token: str) -> Iterator[Account]:
    """Every customer that can hold ads, once: directly where it is reached so, else through a manager.

    Raises what refuses the deployment's own app, where that is why none is found.
    """
    found: dict[str, Account] = {}
    of_app: Refused | None = None
    for above in _api(asking, refresh_token, "").customers():
        try:
            rows = _api(asking, refresh_token, above).search(google_queries.CLIENTS)
        except Refused as refused:
            # closed customers are listed too, and refuse every question
            of_app = refused if refused.reason == "app_refused" else of_app
            continue
        for account in (_account(row, above) for row in rows):
            if account.reached_through is None or account.external_account_id not in found:
                found[account.external_account_id] = account
    if of_app is not None and not found:
        # a project that is approved for test accounts alone: its operator mends that, and no owner of an account
        raise of_app
    yield from list(found.values())[:MOST_ACCOUNTS]


def _account(row: Row, above: str) -> Account:
    node = row["customerClient"]
    number = str(node["id"])
    return Account(
        number,
        str(node.get("descriptiveName") or number),
        node.get("currencyCode"),
        node.get("timeZone"),
        reason=None if node["status"] == "ENABLED" else "account_disabled",
        reached_through=None if number == above else above,
    )


def _api(asking: Asking, refresh_token: str, customer_id: str) -> GoogleApi:
    client = asking.client
    app = App(client.client_id, client.client_secret, client.developer_token)
    return GoogleApi(
        client.base_url, refresh_token, app, asking.transport,
        customer_id=customer_id, login_customer_id=customer_id or None,
    )  # fmt: skip


WAY = Way(SCOPE, read, more={"access_type": "offline", "prompt": "consent"})
