"""Asking and changing one Google Ads customer over REST: lists page by page, reports as streams, mutations."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from connectors.ad_platform import Row
from connectors.apps import App
from connectors.cursors import Steps
from connectors.errors import CursorExpired, Malformed, Revoked
from connectors.google_dialect import PROVIDER, GoogleDialect, Stale
from connectors.transport import Answer, Request, Transport

VERSION = "v26"
LIVE, LIVE_TOKENS = "https://googleads.googleapis.com", "https://oauth2.googleapis.com/token"
RESTARTS = 2
_OF_LISTS = {"results", "nextPageToken", "fieldMask", "requestId", "totalResultsCount", "queryResourceConsumption"}
# an access token is renewed this many seconds before its hour is over
EARLY = 60.0


class GoogleApi:
    """The API as one customer's holder of a refresh token sees it, `base_url` without the version.

    `login_customer_id` is the manager account that the token reaches the customer through, if it does.
    """

    def __init__(
        self,
        base_url: str,
        refresh_token: str,
        app: App,
        transport: Transport,
        *,
        customer_id: str,
        login_customer_id: str | None = None,
    ) -> None:
        self.customer_id = customer_id
        self._base_url, self._refresh_token = base_url.rstrip("/"), refresh_token
        self._app, self._transport = app, transport
        # a version to come refuses who sends a developer token, so none is sent where none is known
        told = {"login-customer-id": login_customer_id, "developer-token": app.developer_token}
        self._told = {name: text for name, text in told.items() if text}
        self._dialect = GoogleDialect()
        self._access, self._good_until = "", 0.0

    def search(self, query: str) -> list[Row]:
        """Every row of a query, all pages read; rows of a page that came twice are there twice.

        An expired page token restarts the walk. Raises Malformed for a list that never moves on.
        """
        for restart in range(RESTARTS + 1):
            try:
                return self._walk_once(query)
            except CursorExpired:
                if restart == RESTARTS:
                    raise
        raise AssertionError("unreachable")

    def stream(self, query: str) -> list[Row]:
        """Every row of a query in one answer, which is whole or an error."""
        body = self._ask("POST", f"customers/{self.customer_id}/googleAds:searchStream", {"query": query}).body
        if not isinstance(body, list):
            raise Malformed(PROVIDER, "a stream that is no list")
        return [row for part in body for row in _results(part)]

    def change(self, collection: str, resources: Sequence[str], members: Mapping[str, Any]) -> None:
        """Set members of objects of a collection, of all or of none. Raises Malformed unless Google says which."""
        mask = ",".join(members)
        operations = [{"updateMask": mask, "update": {"resourceName": one, **members}} for one in resources]
        path = f"customers/{self.customer_id}/{collection}:mutate"
        results = _results(self._ask("POST", path, {"operations": operations}).body)
        if [row.get("resourceName") for row in results] != list(resources):
            raise Malformed(PROVIDER, "a change that is neither done nor refused")

    def customers(self) -> list[str]:
        """Ids of the customers that the token reaches directly, managers among them."""
        names = _object(self._ask("GET", "customers:listAccessibleCustomers")).get("resourceNames", [])
        if not isinstance(names, list):
            raise Malformed(PROVIDER, "a list of customers that is no list")
        return [str(name).removeprefix("customers/") for name in names]

    def _walk_once(self, query: str) -> list[Row]:
        rows: list[Row] = []
        token, steps = "", Steps(PROVIDER, None)
        while True:
            asked = {"query": query, **({"pageToken": token} if token else {})}
            body = self._ask("POST", f"customers/{self.customer_id}/googleAds:search", asked).body
            rows += _results(body)
            following = body.get("nextPageToken") or ""
            if not isinstance(following, str):
                raise Malformed(PROVIDER, "a page token that is no text")
            if not following:
                return rows
            steps.to(following)
            token = following

    def _ask(self, method: str, path: str, document: Row | None = None) -> Answer:
        for attempt in range(2):
            try:
                return self._once(method, path, document)
            except Stale as stale:
                if attempt:
                    raise Revoked(PROVIDER, "a new access token is not good either", status=stale.status) from None
                self._access = ""
        raise AssertionError("unreachable")

    def _once(self, method: str, path: str, document: Row | None) -> Answer:
        access = self._access_token()
        headers = {"Authorization": f"Bearer {access}", **self._told}
        request = Request(method, f"{self._base_url}/{VERSION}/{path}", document=document, headers=headers)
        return self._send(request, access)

    def _access_token(self) -> str:
        if not self._access or time.monotonic() > self._good_until:
            form = {
                "client_id": self._app.client_id,
                "client_secret": self._app.client_secret,
                "refresh_token": self._refresh_token,
                "grant_type": "refresh_token",
            }
            told = _object(self._send(Request("POST", token_address(self._base_url), form=form)))
            access, lasts = told.get("access_token"), told.get("expires_in")
            if not isinstance(access, str) or not access or not isinstance(lasts, int):
                raise Malformed(PROVIDER, "an access token is not as promised")
            self._access, self._good_until = access, time.monotonic() + lasts - EARLY
        return self._access

    def _send(self, request: Request, *more: str) -> Answer:
        hidden = (self._refresh_token, self._app.client_secret, self._app.developer_token, *more)
        return self._transport.send(request, self._dialect, secrets=hidden)


def token_address(base_url: str) -> str:
    """Where refresh tokens and codes are exchanged: at Google on another host than the API's."""
    return LIVE_TOKENS if base_url == LIVE else f"{base_url}/token"


def _object(answer: Answer) -> Row:
    if not isinstance(answer.body, dict):
        raise Malformed(PROVIDER, "the answer is not an object")
    return answer.body


def _results(body: Any) -> Sequence[Row]:
    # Google leaves out what is empty; an object that has nothing of a list is none
    is_list = isinstance(body, dict) and (not body or bool(body.keys() & _OF_LISTS))
    rows = body.get("results", []) if is_list else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Malformed(PROVIDER, "a list without results")
    return rows
