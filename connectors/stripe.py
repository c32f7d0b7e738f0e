"""One Stripe account: payments, refunds, and which payments renew which subscription."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from connectors import attributes
from connectors.errors import Malformed, Refused, each
from connectors.payments import Row
from connectors.stripe_lists import PAID_INVOICES, REFUNDS, StripeLists
from connectors.transport import Transport

# currencies that Stripe counts in whole units, or in thousandths; all others in hundredths
_WHOLE = {"BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"}
_THOUSANDTHS = {"BHD", "JOD", "KWD", "OMR", "TND"}
_REASONS = {
    "subscription_create": "create",
    "subscription_cycle": "cycle",
    "subscription": "cycle",
    "subscription_threshold": "cycle",
    "subscription_update": "update",
}
_PAYING = {"payment_intent", "charge"}
_RANK = {"captured": 0, "authorized": 1, "failed": 2, "test": 3}


class Stripe:
    """One Stripe account; `base_url` without `/v1`."""

    def __init__(self, base_url: str, token: str, transport: Transport) -> None:
        self._lists = StripeLists(base_url.rstrip("/"), token, transport)

    def __repr__(self) -> str:
        return "<Stripe>"

    def payments(self, created_since: datetime | None = None) -> list[Row]:
        """conversions.

        A payment intent tried several times is one payment: its captured charge, else the authorized, else the
        newest failed one. Refunds count once they succeeded; one that came to nothing, or let go of what was never
        captured, is withdrawn, since it may have counted before. `created_since` is when they were made, however late
        they settled.
        """
        since = {"created[gte]": str(int(created_since.timestamp()))} if created_since else {}
        charges = self._charges(since)
        refunds = self._lists.walk("refunds", {**since, **REFUNDS})
        with _as_promised():
            taken, released = _one_per_payment(each("stripe", charges, payment)), _released(refunds)
            given_back = _told(refunds, lambda row: refund(row, is_release=row["id"] in released))
            return taken + given_back

    def renewals(self) -> list[Row]:
        """recurring_payments: of each subscription, the payments of its paid invoices.

        Raises Refused with `permission_missing` for a key that may not read invoices.
        """
        with _as_promised():
            return _renewals(self._lists.walk("invoices", PAID_INVOICES))

    def _charges(self, since: Mapping[str, str]) -> list[Row]:
        """Charges with their customers, without them for a key that may not read those."""
        try:
            return self._lists.walk("charges", {**since, "expand[]": "data.customer"})
        except Refused as refused:
            if refused.reason != "permission_missing":
                raise
        return self._lists.walk("charges", since)

    def disputes(self) -> list[Row]:
        """conversions of all disputes that were decided: lost ones as refunds, others withdrawn.

        Raises Refused with `permission_missing` for a key that may not read them.
        """
        with _as_promised():
            return _told(self._lists.walk("disputes", {}), lost)


def payment(charge: Row) -> Row:
    """The conversions row of one charge."""
    beside = {key: str(value) for key, value in (charge.get("metadata") or {}).items()}
    status = _status(charge)
    amount = charge["amount_captured"] if status == "captured" else charge["amount"]
    ref = f"stripe:{_id(charge.get('payment_intent')) or charge['id']}"
    return {
        "conversion_key": ref,
        "occurred_at": _time(charge["created"]),
        "conversion_type": "payment_received",
        **_money(amount, charge["currency"]),
        "payment_ref": ref,
        "payment_status": status,
        "order_ref": beside.get("order_ref") or beside.get("order_id"),
        "source": "payments",
        **attributes.carried(beside),
        **_contact(charge),
        "payment_customer_id": _id(charge.get("customer")),
    }


def _contact(charge: Row) -> Row:
    """E-mail and phone of whoever paid; with a saved card, which tells neither, those of the customer it is of."""
    billing = charge.get("billing_details") or {}
    email, phone = billing.get("email") or charge.get("receipt_email"), billing.get("phone")
    customer = charge.get("customer")
    if not email and not phone and isinstance(customer, dict):
        email, phone = customer.get("email"), customer.get("phone")
    return {"email": email or None, "phone": phone or None}


def refund(row: Row, *, is_release: bool = False) -> Row | None:
    """The conversions row of one refund; None while it is under way, or when it lowers no payment.

    A release only ended the hold on what was never captured: it is withdrawn.
    """
    counts, void = {"succeeded"}, {"failed", "canceled"}
    return _taken_back(row, "refund", counts=counts, void=void | counts if is_release else void)


def lost(row: Row) -> Row | None:
    """The conversions row of one dispute; None while it is open."""
    return _taken_back(row, "dispute_lost", counts={"lost"}, void={"won", "warning_closed", "prevented"})


def _taken_back(row: Row, kind: str, *, counts: set[str], void: set[str]) -> Row | None:
    """What lowers a payment, which it names, in a state of `counts`; in one of `void` the same row withdrawn."""
    payment, state = _id(row.get("payment_intent")) or _id(row["charge"]), row["status"]
    # money may be sent back that no payment brought, from a balance
    if payment is None or state not in counts | void:
        return None
    return {
        "conversion_key": f"stripe:{row['id']}",
        "occurred_at": _time(row["created"]),
        "conversion_type": "refund_issued",
        **_money(row["amount"], row["currency"]),
        "refunds_payment_ref": f"stripe:{payment}",
        "refund_kind": kind,
        "source": "payments",
        "_deleted": state in void,
    }


def _released(refunds: Iterable[Row]) -> set[str]:
    """Ids of the refunds that gave no money back: of a charge's, the first over just what was never captured.

    Whoever captures in part, or cancels, by a version of Stripe's API before 2025-03-31 makes one. None where all that
    was captured is refunded and nothing else, which only later versions tell so.
    """
    found: dict[str, str] = {}
    for row in sorted(refunds, key=lambda one: (one["created"], one["id"])):
        charge = row.get("charge")
        if not isinstance(charge, dict) or row["status"] != "succeeded":
            continue
        captured = charge.get("amount_captured") or 0
        is_all_of_it = charge.get("refunded") is True and charge.get("amount_refunded") == captured
        if captured + row["amount"] == charge["amount"] and not is_all_of_it:
            found.setdefault(charge["id"], row["id"])
    return set(found.values())


def _told(objects: Iterable[Row], row_of: Callable[[Row], Row | None]) -> list[Row]:
    return [row for row in each("stripe", objects, row_of) if row is not None]


def _one_per_payment(rows: Iterable[Row]) -> list[Row]:
    best: dict[str, Row] = {}
    for row in rows:
        held = best.get(row["payment_ref"])
        if held is None or _preference(row) < _preference(held):
            best[row["payment_ref"]] = row
    return list(best.values())


def _preference(row: Row) -> tuple[int, float]:
    return _RANK[row["payment_status"]], -row["occurred_at"].timestamp()


def _renewals(invoices: Iterable[Row]) -> list[Row]:
    """recurring_payments rows: of each subscription, the payments of its paid invoices in order of time."""
    paid: dict[str, list[tuple[int, str, int, str, str]]] = defaultdict(list)
    for invoice in invoices:
        subscription = _subscription(invoice)
        reason = _REASONS.get(invoice.get("billing_reason") or "", "manual")
        for at, reference in _paid_by(invoice) if subscription else ():
            paid[str(subscription)].append((invoice["created"], invoice["id"], at, reference, reason))
    return [
        {
            "payment_ref": f"stripe:{reference}",
            "first_payment_ref": f"stripe:{min(rows)[3]}",
            "subscription_ref": subscription,
            "sequence_no": number,
            "billing_reason": reason,
        }
        for subscription, rows in sorted(paid.items())
        for number, (*_, reference, reason) in enumerate(sorted(rows), start=1)
    ]


def _subscription(invoice: Row) -> str | None:
    details = (invoice.get("parent") or {}).get("subscription_details") or {}
    return _id(details.get("subscription"))


def _paid_by(invoice: Row) -> Iterator[tuple[int, str]]:
    """When and by what an invoice was paid: payment intents, or charges made before there were any.

    None for one settled outside Stripe; several where it was paid in parts.
    """
    for one in (invoice.get("payments") or {}).get("data") or []:
        payment = one["payment"]
        reference = _id(payment.get(payment.get("type"))) if payment.get("type") in _PAYING else None
        if one.get("status") == "paid" and reference:
            yield int((one.get("status_transitions") or {}).get("paid_at") or invoice["created"]), reference


def _status(charge: Row) -> str:
    if not charge.get("livemode", True):
        return "test"
    if charge["status"] != "succeeded":
        # a pending charge is not money yet; it becomes captured or failed later
        return "authorized" if charge["status"] == "pending" else "failed"
    return "captured" if charge["captured"] else "authorized"


def _money(amount: int, currency: str) -> Row:
    code = currency.upper()
    digits = 0 if code in _WHOLE else 3 if code in _THOUSANDTHS else 2
    return {"value": Decimal(int(amount)).scaleb(-digits), "currency": code}


def _id(value: Any) -> str | None:
    """The id of an object that Stripe shows either as its id or expanded."""
    found = value.get("id") if isinstance(value, dict) else value
    return str(found) if found else None


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


@contextmanager
def _as_promised() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Malformed("stripe", f"an object is not as promised ({type(error).__name__}: {error})") from None
