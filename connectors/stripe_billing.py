"""Selling plans through Stripe: checkout sessions, the customer portal, and ending a subscription."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from connectors.errors import Malformed
from connectors.stripe_lists import VERSION, StripeDialect
from connectors.transport import Request, Transport


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the processor's that a person is sent to; it is of no use after `expires_at`."""

    ref: str
    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Order:
    """What a checkout is for. `reference` comes back with the session, `marks` with it and with the subscription."""

    price: str
    reference: str
    marks: Mapping[str, str]
    success_url: str
    cancel_url: str
    customer: str | None = None


class StripeBilling:
    """The deployment's own Stripe account; `base_url` without `/v1`. Raises only `connectors.errors`."""

    def __init__(self, base_url: str, token: str, transport: Transport) -> None:
        self._base_url, self._token, self._transport = base_url.rstrip("/"), token, transport
        self._dialect = StripeDialect()

    def __repr__(self) -> str:
        return "<StripeBilling>"

    def checkout(self, order: Order, *, key: str) -> Page:
        """A new checkout session; with the same `key` the same one again."""
        form = {
            "mode": "subscription",
            "line_items[0][price]": order.price,
            "line_items[0][quantity]": "1",
            "client_reference_id": order.reference,
            "success_url": order.success_url,
            "cancel_url": order.cancel_url,
            **{f"metadata[{name}]": value for name, value in order.marks.items()},
            **{f"subscription_data[metadata][{name}]": value for name, value in order.marks.items()},
            **({"customer": order.customer} if order.customer else {}),
        }
        body = self._post("checkout/sessions", form, key=key)
        try:
            return Page(_text(body["id"]), _text(body["url"]), datetime.fromtimestamp(int(body["expires_at"]), UTC))
        except (KeyError, TypeError, ValueError, OverflowError, OSError):
            raise Malformed("stripe", "a checkout session is not as promised") from None

    def end_checkout(self, ref: str) -> None:
        """Close a checkout session that nobody paid; Refused when somebody did, or when it is over already."""
        self._post(f"checkout/sessions/{ref}/expire", {}, key=f"expire:{ref}")

    def portal(self, customer: str, return_url: str, *, key: str) -> tuple[str, datetime]:
        """The address of a new session of the customer portal, and when it was made."""
        body = self._post("billing_portal/sessions", {"customer": customer, "return_url": return_url}, key=key)
        try:
            return _text(body["url"]), datetime.fromtimestamp(int(body["created"]), UTC)
        except (KeyError, TypeError, ValueError, OverflowError, OSError):
            raise Malformed("stripe", "a portal session is not as promised") from None

    def end_subscription(self, ref: str, *, gives_back: bool) -> None:
        """End a subscription now; with `gives_back` what is left of its period becomes a credit of the customer."""
        params = {"prorate": "true", "invoice_now": "true"} if gives_back else {}
        self._send(Request("DELETE", f"{self._base_url}/v1/subscriptions/{ref}", params=params), key=f"end:{ref}")

    def _post(self, path: str, form: Mapping[str, str], *, key: str) -> Mapping[str, Any]:
        return self._send(Request("POST", f"{self._base_url}/v1/{path}", form=form), key=key)

    def _send(self, request: Request, *, key: str) -> Mapping[str, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Stripe-Version": VERSION, "Idempotency-Key": key}
        sent = replace(request, headers=headers)
        body = self._transport.send(sent, self._dialect, secrets=(self._token,)).body
        if not isinstance(body, dict):
            raise Malformed("stripe", "an answer that is no object")
        return body


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value
