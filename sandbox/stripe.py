"""The Stripe face: lists and single objects over the world's payments, in the wire protocol of Stripe's API."""

from __future__ import annotations

import re
import secrets

from flask import Blueprint, Response, jsonify, request

from sandbox.journeys import Journeys
from sandbox.money import Payment
from sandbox.refusals import stripe_error
from sandbox.stripe_billing import Billing
from sandbox.stripe_objects import (
    Object,
    charge,
    customer,
    invoice,
    invoice_payment,
    payment_intent,
    refund,
    subscription,
)
from sandbox.stripe_selling import carries_key, portal_pages, selling
from sandbox.world import WorldHolder

KINDS = (
    "charges", "payment_intents", "refunds", "disputes", "customers", "subscriptions", "invoices", "invoice_payments",
)  # fmt: skip
FILTERS = {
    "charges": ("customer", "payment_intent"),
    "payment_intents": ("customer",),
    "refunds": ("charge", "payment_intent"),
    "disputes": ("charge", "payment_intent"),
    "customers": ("email",),
    "subscriptions": ("customer", "status"),
    "invoices": ("customer", "status"),
    "invoice_payments": ("invoice", "status"),
}
# members that show an object of another kind when asked to
EXPANDED = {"refunds": {"charge": "charges"}, "charges": {"customer": "customers"}}
BOUNDS = {"gt": int.__gt__, "gte": int.__ge__, "lt": int.__lt__, "lte": int.__le__}


class Refusal(Exception):
    """A request that Stripe refuses with an error of type invalid_request_error."""

    def __init__(self, status: int, message: str, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.response = stripe_error(status, message, code=code, param=param)


class Stripe:
    """Every object of the world by kind, newest first, as lists show them."""

    def __init__(self, journeys: Journeys) -> None:
        payments = journeys.payments
        billed = [row for row in payments if row.invoice_id]
        latest = {row.subscription_id: row for row in billed}
        rows = {
            "charges": [charge(row) for row in payments],
            "payment_intents": [payment_intent(row) for row in payments],
            "refunds": [refund(part, row) for row in payments for part in row.refunds],
            # no buyer of this world asks a bank for the money back
            "disputes": [],
            "customers": _customers(journeys, payments),
            "subscriptions": [subscription(row, latest[row.id]) for row in journeys.subscriptions],
            "invoices": [invoice(row, with_payments=True) for row in billed],
            "invoice_payments": [invoice_payment(row) for row in billed],
        }
        self.lists = {kind: sorted(found, key=_newest_first) for kind, found in rows.items()}
        self.by_id = {kind: {row["id"]: row for row in found} for kind, found in rows.items()}

    def known(self, kind: str) -> Stripe:
        """This, when it keeps such objects. Raises Refusal for any other address."""
        if kind not in KINDS:
            raise Refusal(404, f"Unrecognized request URL (GET: /v1/{kind}).")
        return self


def _newest_first(row: Object) -> tuple[int, str]:
    return -row["created"], row["id"]


def _customers(journeys: Journeys, payments: tuple[Payment, ...]) -> list[Object]:
    first: dict[int, int] = {}
    for row in payments:
        if row.person is not None:
            first.setdefault(row.person, row.at)
    return [customer(person, first[person.index]) for person in journeys.people if person.index in first]


def blueprint(holder: WorldHolder, billing: Billing) -> Blueprint:
    """`/v1/<kind>` and `/v1/<kind>/<id>`, newest first, with Stripe's cursors, filters, errors and headers.

    Beside the world's payments, which never change, `billing` sells plans.
    """
    face = Blueprint("stripe", __name__)
    # the journeys of a world never change, only the day on which its ads are looked at
    stripe = Stripe(holder.world.journeys)
    selling(face, billing)
    portal_pages(face, billing)

    @face.before_request
    def check_key() -> Response | None:
        return None if carries_key() else stripe_error(401, "Invalid API Key provided")

    @face.after_request
    def name_request(response: Response) -> Response:
        response.headers["Request-Id"] = f"req_{secrets.token_hex(7)}"
        response.headers["Stripe-Version"] = request.headers.get("Stripe-Version", "2026-10-28.endive")
        return response

    @face.errorhandler(Refusal)
    def refused(error: Refusal) -> Response:
        return error.response

    @face.get("/v1/<kind>")
    def page(kind: str) -> Response:
        rows = _narrowed(kind, stripe.known(kind).lists[kind])
        found, more = _window(rows, kind)
        return jsonify(object="list", data=_shown(stripe, kind, found), has_more=more, url=f"/v1/{kind}")

    @face.get("/v1/<kind>/<number>")
    def one(kind: str, number: str) -> Response:
        row = stripe.known(kind).by_id[kind].get(number)
        if row is None and kind == "subscriptions":
            row = billing.subscriptions.get(number)
        if row is None:
            message = f"No such {kind.removesuffix('s')}: '{number}'"
            raise Refusal(404, message, code="resource_missing", param="id")
        return jsonify(_shown(stripe, kind, [row])[0])

    return face


def _narrowed(kind: str, rows: list[Object]) -> list[Object]:
    """The rows that pass `created[...]` and the kind's own filters; `expand` is no filter; others are refused."""
    kept = rows
    for name, value in request.args.items():
        bound = re.fullmatch(r"created(?:\[(gt|gte|lt|lte)\])?", name)
        if bound is not None:
            kept = _created(kept, bound.group(1), value, name)
        elif name in FILTERS[kind]:
            kept = [row for row in kept if value in (row.get(name), "all")]
        elif name == "subscription" and kind == "invoices":
            kept = [row for row in kept if row["parent"]["subscription_details"]["subscription"] == value]
        elif name not in ("limit", "starting_after", "ending_before") and not name.startswith("expand"):
            raise Refusal(400, f"Received unknown parameter: {name}", code="parameter_unknown", param=name)
    return kept


def _created(rows: list[Object], bound: str | None, value: str, name: str) -> list[Object]:
    if not value.isdigit():
        raise Refusal(400, f"Invalid integer: {value}", code="parameter_invalid_integer", param=name)
    if bound is None:
        return [row for row in rows if row["created"] == int(value)]
    return [row for row in rows if BOUNDS[bound](row["created"], int(value))]


def _window(rows: list[Object], kind: str) -> tuple[list[Object], bool]:
    """One page: `limit` rows after `starting_after` or before `ending_before`, and whether there are more."""
    text = request.args.get("limit", "10")
    if not text.isdigit() or not 1 <= int(text) <= 100:
        raise Refusal(400, "This value must be between 1 and 100 (inclusive).", param="limit")
    limit, after, before = int(text), request.args.get("starting_after"), request.args.get("ending_before")
    if before is not None:
        end = _position(rows, before, "ending_before", kind)
        return rows[max(0, end - limit) : end], end > limit
    start = 0 if after is None else _position(rows, after, "starting_after", kind) + 1
    return rows[start : start + limit], len(rows) > start + limit


def _position(rows: list[Object], number: str, param: str, kind: str) -> int:
    for index, row in enumerate(rows):
        if row["id"] == number:
            return index
    message = f"No such {kind.removesuffix('s')}: '{number}'"
    raise Refusal(400, message, code="resource_missing", param=param)


def _shown(stripe: Stripe, kind: str, rows: list[Object]) -> list[Object]:
    """The rows with what was asked to be expanded; invoices show their payments only then."""
    asked = {value.removeprefix("data.") for name, value in request.args.items(multi=True) if name.startswith("expand")}
    if kind == "invoices" and "payments" not in asked:
        return [{key: value for key, value in row.items() if key != "payments"} for row in rows]
    for member, of in EXPANDED.get(kind, {}).items():
        if member in asked:
            rows = [{**row, member: stripe.by_id[of].get(row[member], row[member])} for row in rows]
    return rows
