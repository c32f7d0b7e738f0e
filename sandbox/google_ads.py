"""The REST form of the Google Ads API over the world: queries page by page or as a stream, mutations, access tokens."""

from __future__ import annotations

import base64
import json
from datetime import date
from typing import Any

from flask import Blueprint, Response, request

from sandbox import gaql, google_rows, refusals
from sandbox.ads import AdAccount
from sandbox.gaql import BadQuery, Query
from sandbox.google_live import SETTABLE, Live, mutated
from sandbox.google_world import CUSTOMERS, MANAGER, Shelf
from sandbox.world import WorldHolder

VERSION = "v26"
ACCESS = "ya29.sandboxGoogleAccessTokenOfNobody"
DEVELOPER_TOKEN = "sandbox-developer-token"  # noqa: S105 - of nobody
# Google's own pages hold 10,000 rows
PAGE, BATCH = 4, 200
Row = dict[str, Any]


def blueprint(holder: WorldHolder, shelf: Shelf, live: Live) -> Blueprint:
    """The routes of /google; `live` holds what is changed through them."""
    face = Blueprint("google", __name__)

    @face.before_request
    def admit() -> Response | None:
        return _turned_away((request.view_args or {}).get("customer"))

    @face.errorhandler(BadQuery)
    def refuse(error: BadQuery) -> Response:
        return refusals.google_error(error.code, str(error))

    @face.route("/<path:rest>", methods=["GET", "POST"])
    def unknown_path(rest: str) -> Response:
        return refusals.answer({"error": {"code": 404, "message": f"{rest} not found", "status": "NOT_FOUND"}}, 404)

    @face.get(f"/{VERSION}/customers:listAccessibleCustomers")
    def accessible() -> Response:
        return refusals.answer({"resourceNames": [f"customers/{row.id}" for row in (CUSTOMERS[0], MANAGER)]})

    @face.post(f"/{VERSION}/customers/<customer>/googleAds:search")
    def search(customer: str) -> Response:
        document = _document()
        rows = _rows(holder, shelf, live, customer, gaql.parsed(str(document.get("query"))))
        return _page(rows, document)

    @face.post(f"/{VERSION}/customers/<customer>/googleAds:searchStream")
    def stream(customer: str) -> Response:
        rows = _rows(holder, shelf, live, customer, gaql.parsed(str(_document().get("query"))))
        batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)] or [[]]
        return refusals.answer([{"results": batch, "requestId": "sandbox"} for batch in batches])

    @face.post(f"/{VERSION}/customers/<customer>/<any({', '.join(SETTABLE)}):collection>:mutate")
    def mutate(customer: str, collection: str) -> Response:
        return mutated(live, collection, _nodes(holder, shelf, live, customer, collection), _document())

    return face


def _turned_away(customer: str | None) -> Response | None:
    if request.headers.get("Authorization") != f"Bearer {ACCESS}":
        return refusals.revoked("google")
    # one that is sent may be wrong, as before; who sends none is known by the project of the client
    if request.headers.get("developer-token", DEVELOPER_TOKEN) != DEVELOPER_TOKEN:
        return refusals.google_error("DEVELOPER_TOKEN_INVALID", "The developer token is not valid.")
    if customer is None:
        return None
    login = request.headers.get("login-customer-id") or customer
    # the second customer lets in nobody but its manager
    allowed = {CUSTOMERS[0].id: {CUSTOMERS[0].id}, CUSTOMERS[1].id: {MANAGER.id}, MANAGER.id: {MANAGER.id}}
    if login not in allowed.get(customer, set()):
        return refusals.google_error("USER_PERMISSION_DENIED", "User doesn't have permission to access customer.")
    return None


def _document() -> Row:
    found = request.get_json(silent=True)
    return found if isinstance(found, dict) else {}


def _customer(number: str) -> AdAccount:
    return next(row for row in (*CUSTOMERS, MANAGER) if row.id == number)


def _rows(holder: WorldHolder, shelf: Shelf, live: Live, customer: str, query: Query) -> list[Row]:
    google_rows.checked(query)
    holdings, world = shelf.of(holder.world), holder.world
    found = list(google_rows.entities(holdings, live, _customer(customer), query.resource))
    if query.asked("metrics."):
        since, until = (date.fromisoformat(text) for text in query.dates() or ())
        ads = {(row.get("assetGroup") or row["adGroupAd"]["ad"])["id"]: row for row in found}
        found = list(google_rows.delivered(query, holdings.seen(customer, since, until, world.as_of), ads))
    return [query.picked(row) for row in found if query.admits(row)]


def _nodes(holder: WorldHolder, shelf: Shelf, live: Live, customer: str, collection: str) -> dict[str, Row]:
    resource, member = {
        "campaigns": ("campaign", "campaign"),
        "adGroups": ("ad_group", "adGroup"),
        "adGroupAds": ("ad_group_ad", "adGroupAd"),
        "campaignBudgets": ("campaign", "campaignBudget"),
    }[collection]
    rows = google_rows.entities(shelf.of(holder.world), live, _customer(customer), resource)
    return {row[member]["resourceName"]: row[member] for row in rows}


def _page(rows: list[Row], document: Row) -> Response:
    """One page of `rows`; a token is of one query only."""
    token = str(document.get("pageToken") or "")
    try:
        query, start = json.loads(base64.b64decode(token)) if token else (document["query"], 0)
    except (ValueError, TypeError):
        return refusals.cursor_expired("google")
    if query != document["query"] or not isinstance(start, int):
        return refusals.cursor_expired("google")
    body: Row = {"results": rows[start : start + PAGE], "requestId": "sandbox"}
    if start + PAGE < len(rows):
        body["nextPageToken"] = base64.b64encode(json.dumps([query, start + PAGE]).encode()).decode()
    return refusals.answer(body)
