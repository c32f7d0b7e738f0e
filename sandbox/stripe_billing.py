"""The selling half of the Stripe face: checkout and portal sessions, subscriptions, events and their signed deliveries.

Unlike the world's payments, these change: what is created here lives as long as the process.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import httpx

from sandbox.stripe_objects import Object

VERSION = "2026-10-28.endive"
DAY = 86400
# price id: unit amount, interval, seconds of a period
PRICES = {
    "price_growth_month": (4900, "month", 30 * DAY),
    "price_growth_year": (49000, "year", 365 * DAY),
    "price_agency_month": (19900, "month", 30 * DAY),
    "price_agency_year": (199000, "year", 365 * DAY),
}
DELIVERY_SECONDS = 5.0


@dataclass
class Endpoint:
    """Where deliveries go, and the secret they are signed with."""

    url: str
    secret: str = field(repr=False)


def signature(secret: str, body: bytes, at: int) -> str:
    """The `Stripe-Signature` header of a delivery."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


class Billing:
    """Sessions, subscriptions and events, changed by requests and by what payers do. Safe between threads."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.sessions: dict[str, Object] = {}
        self.portals: dict[str, Object] = {}
        self.subscriptions: dict[str, Object] = {}
        self.customers: set[str] = set()
        self.events: list[Object] = []
        self.deliveries: list[int] = []
        self.endpoint: Endpoint | None = None
        self._answers: dict[str, tuple[str, Object]] = {}
        self._numbers = itertools.count(1)

    def once(self, key: str | None, print_: str, make: Callable[[], Object]) -> Object | None:
        """What `make` gives, or gave for the same key; None when the key was used for something else."""
        with self.lock:
            if key and key in self._answers:
                known, answer = self._answers[key]
                return answer if known == print_ else None
            made = make()
            if key:
                self._answers[key] = (print_, made)
            return made

    def checkout(self, form: Mapping[str, Any], host: str) -> Object:
        """A new open session for one price."""
        number, at = self._id("cs_test"), int(time.time())
        price = form["line_items"]["0"]["price"]
        session = {
            "id": number,
            "object": "checkout.session",
            "amount_total": PRICES[price][0],
            "cancel_url": form.get("cancel_url"),
            "client_reference_id": form.get("client_reference_id"),
            "created": at,
            "currency": "usd",
            "customer": form.get("customer"),
            "customer_details": None,
            "expires_at": at + DAY,
            "livemode": False,
            "metadata": dict(form.get("metadata", {})),
            "mode": "subscription",
            "payment_status": "unpaid",
            "status": "open",
            "subscription": None,
            "success_url": form["success_url"],
            "url": f"{host}/stripe/c/pay/{number}",
        }
        marks = form.get("subscription_data", {}).get("metadata", {})
        with self.lock:
            self.sessions[number] = {**session, "_price": price, "_marks": dict(marks)}
        return session

    def portal(self, customer: str, return_url: str | None, host: str) -> Object:
        """A new session of the customer portal."""
        number = self._id("bps")
        self.portals[number] = {
            "id": number,
            "object": "billing_portal.session",
            "configuration": "bpc_sandbox",
            "created": int(time.time()),
            "customer": customer,
            "flow": None,
            "livemode": False,
            "locale": None,
            "on_behalf_of": None,
            "return_url": return_url,
            "url": f"{host}/stripe/p/session/{number}",
        }
        return self.portals[number]

    def subscription_of(self, customer: str) -> Object | None:
        """The customer's newest subscription that has not ended."""
        living = (row for row in self.subscriptions.values() if row["status"] != "canceled")
        return next((row for row in reversed(list(living)) if row["customer"] == customer), None)

    def pay(self, number: str) -> None:
        """The payer pays: a subscription begins."""
        with self.lock:
            session = self.sessions[number]
            if session["status"] != "open":
                return
            made = self._subscribe(session)
            details = {"email": "payer@example.com", "name": "Pat Payer", "phone": None, "address": None}
            session |= {"status": "complete", "payment_status": "paid", "url": None, "customer_details": details}
            session |= {"subscription": made["id"], "customer": made["customer"]}
            self.tell("customer.subscription.created", made)
            self.tell("checkout.session.completed", session)
            self.tell("invoice.paid", self._invoice(made, "subscription_create"))

    def expire(self, number: str) -> Object:
        """The session ends without a payment."""
        with self.lock:
            session = self.sessions[number]
            if session["status"] == "open":
                session |= {"status": "expired", "url": None}
                self.tell("checkout.session.expired", session)
            return session

    def change(self, number: str, deed: str) -> Object:
        """What happens to a subscription: renew, fail, cancel, resume, end, or the id of another price."""
        with self.lock:
            row = self.subscriptions[number]
            if deed == "renew":
                self._move_on(row)
                self.tell("invoice.paid", self._invoice(row, "subscription_cycle"))
            elif deed == "fail":
                row["status"] = "past_due"
                self.tell("invoice.payment_failed", self._invoice(row, "subscription_cycle", paid=False))
            elif deed in ("cancel", "resume"):
                row["cancel_at_period_end"] = deed == "cancel"
                row["cancel_at"] = row["items"]["data"][0]["current_period_end"] if deed == "cancel" else None
            elif deed == "end":
                row |= {"status": "canceled", "canceled_at": int(time.time()), "ended_at": int(time.time())}
            else:
                row["items"]["data"][0]["price"] = _price(deed)
            self.tell(f"customer.subscription.{'deleted' if deed == 'end' else 'updated'}", row)
            return row

    def tell(self, kind: str, about: Object) -> Object:
        """Keep an event with the object as it is now, and deliver it where an endpoint is set."""
        shown = {name: value for name, value in about.items() if not name.startswith("_")}
        event = {
            "id": self._id("evt"),
            "object": "event",
            "api_version": VERSION,
            "created": int(time.time()),
            # events keep the object as it was
            "data": {"object": json.loads(json.dumps(shown))},
            "livemode": False,
            "pending_webhooks": 1,
            "request": {"id": None, "idempotency_key": None},
            "type": kind,
        }
        self.events.append(event)
        if self.endpoint is not None:
            self.deliveries.append(_deliver(self.endpoint, event))
        return event

    def _subscribe(self, session: Object) -> Object:
        at, price = int(time.time()), session["_price"]
        number, customer = self._id("sub"), session["customer"] or self._id("cus")
        item = {"id": self._id("si"), "object": "subscription_item", "price": _price(price), "quantity": 1}
        item |= {"current_period_start": at, "current_period_end": at + PRICES[price][2]}
        made = {
            "id": number,
            "object": "subscription",
            "cancel_at": None,
            "cancel_at_period_end": False,
            "canceled_at": None,
            "collection_method": "charge_automatically",
            "created": at,
            "currency": "usd",
            "customer": customer,
            "ended_at": None,
            "items": {"object": "list", "data": [item], "has_more": False, "url": "/v1/subscription_items"},
            "latest_invoice": None,
            "livemode": False,
            "metadata": session["_marks"],
            "start_date": at,
            "status": "active",
        }
        self.subscriptions[number] = made
        self.customers.add(customer)
        return made

    def _move_on(self, row: Object) -> None:
        item = row["items"]["data"][0]
        begins = item["current_period_end"]
        item |= {"current_period_start": begins, "current_period_end": begins + PRICES[item["price"]["id"]][2]}
        row["status"] = "active"

    def _invoice(self, row: Object, reason: str, *, paid: bool = True) -> Object:
        item = row["items"]["data"][0]
        amount, number = item["price"]["unit_amount"], self._id("in")
        row["latest_invoice"] = number
        details = {"metadata": row["metadata"], "subscription": row["id"]}
        return {
            "id": number,
            "object": "invoice",
            "amount_due": amount,
            "amount_paid": amount if paid else 0,
            "billing_reason": reason,
            "created": int(time.time()),
            "currency": "usd",
            "customer": row["customer"],
            "customer_email": "payer@example.com",
            "livemode": False,
            "metadata": {},
            "parent": {"quote_details": None, "subscription_details": details, "type": "subscription_details"},
            "status": "paid" if paid else "open",
            "total": amount,
        }

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):014d}"


def _price(number: str) -> Object:
    amount, interval, _ = PRICES[number]
    recurring = {"interval": interval, "interval_count": 1}
    return {"id": number, "object": "price", "currency": "usd", "recurring": recurring, "unit_amount": amount}


def _deliver(endpoint: Endpoint, event: Object) -> int:
    body = json.dumps(event).encode()
    headers = {"Stripe-Signature": signature(endpoint.secret, body, int(time.time()))}
    headers |= {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Stripe/1.0"}
    try:
        with httpx.Client(trust_env=False, timeout=DELIVERY_SECONDS) as client:
            return client.post(endpoint.url, content=body, headers=headers).status_code
    except httpx.HTTPError:
        return 0
