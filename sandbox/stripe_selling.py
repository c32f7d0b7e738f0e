"""Routes of the selling half of the Stripe face, and the page on which a payer decides."""

from __future__ import annotations

import json
import re
from typing import Any

from flask import Blueprint, Flask, Response, jsonify, redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from sandbox.faces import accepted
from sandbox.faults import CONTROL
from sandbox.refusals import stripe_error
from sandbox.stripe_billing import PRICES, Billing, Endpoint
from sandbox.stripe_objects import Object

CHECKOUT = {
    "mode", "line_items", "client_reference_id", "success_url", "cancel_url", "metadata", "subscription_data",
    "customer", "expand",
}  # fmt: skip
PORTAL = {"customer", "return_url", "configuration", "expand"}
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sandbox checkout</title>
<main><h1>{amount} {currency}</h1>
<form method="post"><button name="outcome" value="paid">Pay</button>
<button name="outcome" value="abandoned">Leave</button></form></main>"""
_PORTAL = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sandbox billing portal</title>
<main><h1>{plan}</h1><form method="post">{deeds}</form>{back}</main>"""


def selling(face: Blueprint, billing: Billing) -> None:
    """Add checkout sessions, portal sessions, subscriptions that change, events and the payer's page to the face."""

    @face.post("/v1/checkout/sessions")
    def create_checkout() -> Response:
        form = _form()
        if refused := _refuse_checkout(form):
            return refused
        return _once(billing, lambda: billing.checkout(form, _host()))

    @face.get("/v1/checkout/sessions/<number>")
    def one_checkout(number: str) -> Response:
        return _shown(billing.sessions.get(number), "checkout.session", number)

    @face.post("/v1/checkout/sessions/<number>/expire")
    def expire_checkout(number: str) -> Response:
        session = billing.sessions.get(number)
        if session is not None and session["status"] != "open":
            return stripe_error(400, f"Only Checkout Sessions with a status in ['open'] can be expired: {number}")
        return _shown(session and billing.expire(number), "checkout.session", number)

    @face.post("/v1/billing_portal/sessions")
    def create_portal() -> Response:
        form = _form()
        if unknown := set(form) - PORTAL:
            return _unknown(sorted(unknown)[0])
        customer = form.get("customer", "")
        if customer not in billing.customers:
            return stripe_error(400, f"No such customer: '{customer}'", code="resource_missing", param="customer")
        return _once(billing, lambda: billing.portal(customer, form.get("return_url"), _host()))

    @face.delete("/v1/subscriptions/<number>")
    def end_subscription(number: str) -> Response:
        row = billing.subscriptions.get(number)
        if row is not None and row["status"] == "canceled":
            row = None
        return _shown(row and billing.change(number, "end"), "subscription", number)

    @face.get("/v1/events")
    def events() -> Response:
        return jsonify(object="list", data=billing.events[::-1], has_more=False, url="/v1/events")

    @face.get("/c/pay/<number>")
    def pay_page(number: str) -> Response:
        session = billing.sessions.get(number)
        if session is None:
            return Response("", 404)
        amount, currency = session["amount_total"] / 100, session["currency"].upper()
        return Response(_PAGE.format(amount=f"{amount:.2f}", currency=currency), mimetype="text/html")

    @face.post("/c/pay/<number>")
    def decide(number: str) -> AnyResponse:
        session = billing.sessions.get(number)
        if session is None:
            return Response("", 404)
        if request.form.get("outcome") == "paid":
            billing.pay(number)
            return redirect(session["success_url"], 303)
        billing.expire(number)
        return redirect(session["cancel_url"] or session["success_url"], 303)


def portal_pages(face: Blueprint, billing: Billing) -> None:
    """Add the page of a portal session, on which a customer changes what is paid for."""

    @face.get("/p/session/<number>")
    def portal_page(number: str) -> Response:
        session = billing.portals.get(number)
        if session is None:
            return Response("", 404)
        row, back = billing.subscription_of(session["customer"]), session["return_url"]
        deeds = [Markup('<button name="do" value="{0}">{0}</button>').format(one) for one in _deeds(row)]
        link = Markup('<p><a href="{}">Back</a></p>').format(back) if back else ""
        plan = row["items"]["data"][0]["price"]["id"] if row else "Nothing is paid for"
        return Response(_PORTAL.format(plan=plan, deeds="".join(deeds), back=link), mimetype="text/html")

    @face.post("/p/session/<number>")
    def change_there(number: str) -> AnyResponse:
        session = billing.portals.get(number)
        if session is None:
            return Response("", 404)
        row, deed = billing.subscription_of(session["customer"]), request.form.get("do", "")
        if row is None or deed not in _deeds(row):
            return Response("", 400)
        billing.change(row["id"], deed)
        return redirect(session["url"], 303)


def _deeds(row: Object | None) -> list[str]:
    """What a customer may do there: to let the plan end or go on, or to take another price."""
    if row is None:
        return []
    paid = row["items"]["data"][0]["price"]["id"]
    return ["resume" if row["cancel_at_period_end"] else "cancel", *(one for one in PRICES if one != paid)]


def control(app: Flask, billing: Billing) -> None:
    """`PUT /__sandbox__/stripe/endpoint {url, secret}` and `POST /__sandbox__/stripe/subscriptions/<id> {do}`."""

    @app.put(f"{CONTROL}/stripe/endpoint")
    def set_endpoint() -> Response:
        body = request.get_json()
        billing.endpoint = Endpoint(body["url"], body["secret"]) if body.get("url") else None
        return jsonify(url=body.get("url"))

    @app.post(f"{CONTROL}/stripe/subscriptions/<number>")
    def change(number: str) -> Response:
        deed = request.get_json()["do"]
        known = {"renew", "fail", "cancel", "resume", "end", *PRICES}
        if number not in billing.subscriptions or deed not in known:
            return Response(json.dumps({"error": f"do is one of {sorted(known)}"}), 400, mimetype="application/json")
        return jsonify(billing.change(number, deed))


def is_for_payers() -> bool:
    """Whether the request is for a page that people see, which carries no key."""
    return re.match(r"/stripe/(c/pay|p/session)/", request.path) is not None


def carries_key() -> bool:
    """Whether the request may pass: with the key, or to a page for people."""
    return is_for_payers() or accepted("stripe", request)


def _once(billing: Billing, make: Any) -> Response:
    key, print_ = request.headers.get("Idempotency-Key"), json.dumps([request.path, sorted(request.form.items())])
    made = billing.once(key, print_, make)
    if made is None:
        return stripe_error(400, "Keys for idempotent requests can only be used with the same parameters.")
    return jsonify(made)


def _refuse_checkout(form: dict[str, Any]) -> Response | None:
    if unknown := set(form) - CHECKOUT:
        return _unknown(sorted(unknown)[0])
    if form.get("mode") != "subscription":
        return stripe_error(400, "You must provide mode: subscription.", param="mode")
    if not str(form.get("success_url", "")).startswith(("http://", "https://")):
        return stripe_error(400, "Not a valid URL", code="url_invalid", param="success_url")
    price = form.get("line_items", {}).get("0", {}).get("price")
    if price not in PRICES:
        return stripe_error(400, f"No such price: '{price}'", code="resource_missing", param="line_items[0][price]")
    return None


def _form() -> dict[str, Any]:
    """The form with its brackets unfolded: `a[0][b]=c` is {a: {0: {b: c}}}."""
    found: dict[str, Any] = {}
    for name, value in request.form.items():
        place, *inner = re.findall(r"[^\[\]]+", name)
        at = found
        for part in inner:
            at = at.setdefault(place, {})
            place = part
        at[place] = value
    return found


def _shown(row: Object | None, noun: str, number: str) -> Response:
    if row is None:
        return stripe_error(404, f"No such {noun}: '{number}'", code="resource_missing", param="id")
    return jsonify({name: value for name, value in row.items() if not name.startswith("_")})


def _unknown(name: str) -> Response:
    return stripe_error(400, f"Received unknown parameter: {name}", code="parameter_unknown", param=name)


def _host() -> str:
    return request.host_url.rstrip("/")
